import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { forbidden } from '../../base/errors.ts'
import type { TeamDeps, Visitor } from '../users/users.ts'
import { knownForMs } from './login-throttle.ts'
import type { NewSession } from './sessions.ts'

export function visitorOf(deps: TeamDeps, request: FastifyRequest): Visitor {
  return {
    address: deps.addressOf(request.raw),
    device: deviceOf(request.headers['user-agent']),
    sessionToken: sessionCookie(deps.publicUrl).read(request),
    deviceToken: deviceCookie(deps.publicUrl).read(request),
  }
}

// In this order: each family also claims to be those below it.
const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const systems: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** "Firefox on Linux": enough to tell one's own sessions apart, too little to tell people apart. */
export function deviceOf(userAgent: string | undefined): string {
  const browser = familyIn(browsers, userAgent) ?? 'Unknown browser'
  const system = familyIn(systems, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}

function familyIn(families: [RegExp, string][], userAgent = ''): string | undefined {
  return families.find(([shape]) => shape.test(userAgent))?.[1]
}

/** Puts the session in the browser and finds it there. Over HTTPS the cookie's name forbids it to other hosts. */
interface SessionCookie {
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
interface DeviceCookie {
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

export const csrfHeader = 'x-parley-csrf'

/** Bound to the session: another session's token, or one from before signing in, is worth nothing. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('parley csrf').digest('base64url')
}

/** Refuses with 403 unless our own page sent this change with the token of its session. */
export function refuseForgery(
  headers: IncomingHttpHeaders,
  publicUrl: string,
  sessionToken: string,
  sent: string | undefined,
): void {
  if (originOf(headers, publicUrl) !== 'own') throw forbidden('Changes with a session must come from Parley itself')
  if (sent === undefined || !isSameSecret(sent, csrfTokenOf(sessionToken))) {
    throw forbidden(`Send the csrfToken of GET /api/team/v1/session in the ${csrfHeader} header`)
  }
}

/** Refuses what another site makes a browser send. Programs name no origin, and have no session to abuse. */
export function refuseForeignOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  if (originOf(headers, publicUrl) === 'foreign') throw forbidden('This form must be sent from Parley itself')
}

/**
 * Browsers say where a change comes from: `Sec-Fetch-Site` over HTTPS and on localhost, `Origin` everywhere. `Host` is
 * believed beside the public address, so that a second address of the same server works.
 */
export function originOf(headers: IncomingHttpHeaders, publicUrl: string): 'own' | 'foreign' | 'unsaid' {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return 'foreign'
  const { origin, host } = headers
  if (origin === undefined) return site === undefined ? 'unsaid' : 'own'
  if (origin === new URL(publicUrl).origin) return 'own'
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === host ? 'own' : 'foreign'
}
