import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'

/** Headers of every response. `no-store`, because almost all responses contain personal data. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

interface PageSources {
  /** More sources of styles, such as `'unsafe-inline'` for a library with inline styles. */
  styles?: string
  images?: string
  fonts?: string
  /** Origins that may frame the page; default none. */
  frames?: string
}

/** Sets a policy that lets an HTML response load everything from this server and nothing from others. */
export function setPagePolicy(reply: FastifyReply, sources: PageSources = {}): FastifyReply {
  const policy = [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' ${sources.styles ?? ''}`,
    `img-src 'self' data: ${sources.images ?? ''}`,
    `font-src 'self' data: ${sources.fonts ?? ''}`,
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${sources.frames ?? "'none'"}`,
  ]
  return reply
    .header('content-security-policy', policy.map((line) => line.trim()).join('; '))
    .type('text/html; charset=utf-8')
}

export const requestIdHeader = 'x-request-id'

/** Returns the caller's `x-request-id` if it is a plain token, so that requests can be traced; else a new id. */
export function requestIdOf(request: IncomingMessage, clock: Clock): string {
  const callerId = request.headers[requestIdHeader]
  return typeof callerId === 'string' && /^[\w.-]{1,64}$/.test(callerId) ? callerId : newId(clock.now())
}
