import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { knownForMs } from './known-sign-ins.ts'
import type { NewSession } from './sessions.ts'

/** Puts the session in the browser and finds it there. Over HTTPS the cookie's name forbids it to other hosts. */
export interface SessionCookie {
  read(request: FastifyRequest): string | null
  set(reply: FastifyReply, session: NewSession): void
  clear(reply: FastifyReply): void
}

export function sessionCookie(publicUrl: string): SessionCookie {
  const secure = publicUrl.startsWith('https:')
  const name = secure ? '__Host-parley_session' : 'parley_session'
  const options: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure }
  return {
    read: (request) => request.cookies[name] || null,
    set: (reply, session) => {
      reply.setCookie(name, session.token, { ...options, expires: session.expiresAt })
    },
    clear: (reply) => {
      reply.clearCookie(name, options)
    },
  }
}

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
