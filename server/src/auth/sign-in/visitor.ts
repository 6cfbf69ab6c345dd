import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { forbidden } from '../../base/errors.ts'
import type { TeamDeps, Visitor } from '../users/users.ts'

export function visitorOf(deps: TeamDeps, request: FastifyRequest): Visitor {
  return {
    address: deps.clientAddressOf(request.raw),
    device: deviceOf(request.headers['user-agent']),
    sessionToken: ownCookie(deps.publicUrl, 'session').read(request),
    deviceToken: ownCookie(deps.publicUrl, 'device').read(request),
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

/** A cookie of this service. */
interface OwnCookie {
  read(request: FastifyRequest): string | null
  set(reply: FastifyReply, value: string, lifetime: Pick<CookieSerializeOptions, 'expires' | 'maxAge'>): void
  clear(reply: FastifyReply): void
}

/**
 * Returns the cookie of a session, of a browser that is recognized after its session has ended (useless without the
 * password), or of a visit to an identity provider. Over HTTPS its `__Host-` name prevents other hosts from setting it.
 */
export function ownCookie(publicUrl: string, purpose: 'session' | 'device' | 'sso'): OwnCookie {
  const secure = publicUrl.startsWith('https:')
  const name = `${secure ? '__Host-' : ''}parley_${purpose}`
  // Lax, because the answer of an identity provider is a navigation from its site.
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const
  return {
    read: (request) => request.cookies[name] || null,
    set: (reply, value, lifetime) => {
      reply.setCookie(name, value, { ...options, ...lifetime })
    },
    clear: (reply) => {
      reply.clearCookie(name, options)
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
