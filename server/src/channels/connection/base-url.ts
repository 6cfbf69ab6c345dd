import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'

/** The platform's address without a trailing slash, or why it must not be called. */
export function readBaseUrl(text: string, outgoing: Outgoing): { baseUrl: string } | { refused: string } {
  const refused = outgoing.refusal(text)
  if (refused !== null) return { refused }
  const url = new URL(text)
  if (url.search !== '') return { refused: 'must not have a query: leave out what begins with ?' }
  if (url.pathname.includes('//')) return { refused: 'must not have an empty part in its path' }
  return { baseUrl: url.href.replace(/\/?\??$/, '') }
}
