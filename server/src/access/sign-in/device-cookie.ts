import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { knownForMs } from './known-sign-ins.ts'

/** Lets a browser be known again after its session. It opens nothing: without the password it is worth nothing. */
export interface DeviceCookie {
  read(request: FastifyRequest): string | null
  set(reply: FastifyReply, deviceToken: string): void
}

export function deviceCookie(publicUrl: string): DeviceCookie {
  const secure = publicUrl.startsWith('https:')
  const name = secure ? '__Host-parley_device' : 'parley_device'
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure }
  return {
    read: (request) => request.cookies[name] || null,
    set: (reply, deviceToken) => {
      reply.setCookie(name, deviceToken, { ...options, maxAge: knownForMs / 1000 })
    },
  }
}
