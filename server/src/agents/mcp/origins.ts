import type { onRequestHookHandler } from 'fastify'
import { forbidden } from '../../base/errors.ts'
import { isLoopback } from '../../base/outgoing/address.ts'

/** What decides which pages may call from a browser. */
export interface OriginSettings {
  publicUrl: string
  /** The address that the service listens on. */
  host: string
  allowedOrigins: readonly string[]
}

/**
 * Returns whether a page of this origin may call: our own, those that the settings list, and pages of this machine while
 * nobody else reaches the service. A page whose name was made to lead here (DNS rebinding) still has its own origin.
 */
export function isAllowedOrigin(origin: string, { publicUrl, host, allowedOrigins }: OriginSettings): boolean {
  if (origin === new URL(publicUrl).origin || allowedOrigins.includes(origin)) return true
  return isLoopback(host) && isOfThisMachine(origin)
}

function isOfThisMachine(origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  // Whatever else stands in an address is in no origin.
  return /^https?:$/.test(url.protocol) && url.origin === origin && isLoopback(url.hostname)
}

/** What a script of another origin reads of an answer beside its body. */
const shownHeaders = 'www-authenticate, retry-after, x-request-id'

/** Refuses pages that may not call with 403, and has browsers show answers to those that may. Programs send no origin. */
export const refuseOrigins =
  (settings: OriginSettings): onRequestHookHandler =>
  ({ headers: { origin } }, reply, done) => {
    if (origin === undefined) return done()
    reply.header('vary', 'origin')
    if (!isAllowedOrigin(origin, settings)) return done(forbidden('Requests from other sites are refused here'))
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': shownHeaders,
      'cross-origin-resource-policy': 'cross-origin',
    })
    done()
  }

/** What a browser asks for before it lets a page send a key. No cookie is ever taken here, so none is offered. */
export const preflight = (asked: string | undefined): Record<string, string> => ({
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': /^[\w, -]{1,1000}$/.test(asked ?? '') ? String(asked) : 'authorization, content-type',
  'access-control-max-age': '600',
})
