import type { FastifyReply } from 'fastify'

/** What every answer carries. `no-store`, since almost everything here is somebody's personal data. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

export interface PageSources {
  /** Further sources of styles, `'unsafe-inline'` for a library that writes its own. */
  styles?: string
  images?: string
  fonts?: string
  /** Origins that may show the page in a frame; none unless given. */
  frames?: string
}

/** Lets an HTML answer load scripts, styles, images, fonts and data from this server, and nothing from elsewhere. */
export function asPage(reply: FastifyReply, sources: PageSources = {}): FastifyReply {
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
