import { readError } from './errors.ts'
import { bearer, exchange, type Wire } from './exchange.ts'
import { type Loose, objectOf, readJson } from './json.ts'
import type { WabaSettings } from './settings.ts'

/** What reading from the platform gave. `isDown` says that the access token is not taken any more. */
export type Fetched = { ok: true; body: Loose } | { ok: false; errorCode: string; isDown: boolean }

const timeoutMs = 20_000
// Other refusals may be of the read alone: a token can send messages and still not list templates.
const tokenCodes = new Set([0, 190])

/** Reads `path` below the version, `106540352242922?fields=id`; never throws. */
export async function fetchGraph(wire: Wire, settings: WabaSettings, path: string): Promise<Fetched> {
  const url = `${settings.baseUrl}/${settings.version}/${path}`
  const answer = await exchange(wire, { method: 'GET', url, headers: bearer(settings.accessToken), timeoutMs })
  if (answer.outcome !== 'answered') return { ok: false, errorCode: answer.code, isDown: false }
  const body = readJson(answer.body)
  if (answer.status >= 200 && answer.status < 300 && body !== null) return { ok: true, body: objectOf(body) }
  const error = readError(body)
  if (error === null) return { ok: false, errorCode: `http_${answer.status}`, isDown: false }
  return { ok: false, errorCode: String(error.code), isDown: tokenCodes.has(error.code) }
}
