import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { forbidden } from '../../base/errors.ts'
import { sameSecret } from '../../base/sealing/secret-token.ts'

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
  if (sent === undefined || !sameSecret(sent, csrfTokenOf(sessionToken))) {
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
