import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { forbidden } from '../../base/errors.ts'
import type { TeamDeps, Visitor } from '../users/users.ts'
import { rememberedForMs } from './login-throttle.ts'
import type { NewSession } from './sessions.ts'

export function visitorOf(deps: TeamDeps, request: FastifyRequest): Visitor {
  return {
    address: deps.clientAddressOf(request.raw),
    device: deviceOf(request.headers['user-agent']),
    sessionToken: sessionCookie(deps.publicUrl).read(request),
    deviceToken: deviceCookie(deps.publicUrl).read(request),
  }
}

// Order matters: each browser's user agent also contains the names of those below it.
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

/** Returns e.g. "Firefox on Linux": enough to distinguish one's own sessions, too little to identify people. */
export function deviceOf(userAgent: string | undefined): string {
  const browser = findFamily(browsers, userAgent) ?? 'Unknown browser'
  const system = findFamily(systems, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}

function findFamily(families: [RegExp, string][], userAgent = ''): string | undefined {
  return families.find(([shape]) => shape.test(userAgent))?.[1]
}

/** The session cookie. Over HTTPS its `__Host-` name prevents other hosts from setting it. */
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

/** The cookie that identifies a browser after its session has ended. It is useless without the password. */
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
      reply.setCookie(name, deviceToken, { ...options, maxAge: rememberedForMs / 1000 })
    },
  }
}

export const csrfHeader = 'x-parley-csrf'

/** Returns the CSRF token of a session. It is bound to the session: tokens of other or earlier sessions don't match. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('parley csrf').digest('base64url')
}

/** Throws 403 unless Parley's own page sent this change, with the token of its session. */
export function requireCsrfToken(
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

/** Throws 403 for a cross-site browser request. Programs send no origin, and have no session to abuse. */
export function refuseCrossOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  if (originOf(headers, publicUrl) === 'foreign') throw forbidden('This form must be sent from Parley itself')
}

/**
 * Returns where a change comes from, by the headers that browsers set: `Sec-Fetch-Site` over HTTPS and on localhost,
 * `Origin` everywhere. Accepts `Host` as well as the public address, so that a second address of the same server works.
 */
export function originOf(headers: IncomingHttpHeaders, publicUrl: string): 'own' | 'foreign' | 'unsaid' {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return 'foreign'
  const { origin, host } = headers
  if (origin === undefined) return site === undefined ? 'unsaid' : 'own'
  if (origin === new URL(publicUrl).origin) return 'own'
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === host ? 'own' : 'foreign'
}
