import type { PartnerConnection } from '../connection.ts'
import { type Call, exchange, readJson, type Wire } from '../waba/exchange.ts'
import type { Fetched } from '../waba/graph.ts'
import { objectOf } from '../waba/json.ts'
import { judgePartner } from './errors.ts'
import { type Profile, profiles } from './profile.ts'

const timeoutMs = 20_000

/** A call to the partner of a connection, with its key. */
export function callTo({ settings }: PartnerConnection, path: keyof Profile & `${string}Path`, query = '') {
  const profile = profiles[settings.profile]
  return { url: settings.baseUrl + profile[path] + query, headers: { [profile.keyHeader]: settings.apiKey } }
}

/** One question to the partner; never throws. */
export async function ask(wire: Wire, call: Omit<Call, 'timeoutMs' | 'deadline'>): Promise<Fetched> {
  const answer = await exchange(wire, { ...call, timeoutMs })
  if (answer.outcome !== 'answered') return { ok: false, errorCode: answer.code, isDown: false }
  const body = readJson(answer.body)
  if (answer.status >= 200 && answer.status < 300) return { ok: true, body: objectOf(body) }
  const { errorCode, meaning } = judgePartner(body, answer.status)
  const isDown = meaning.outcome === 'refused' && meaning.effect === 'connection_unavailable'
  return { ok: false, errorCode, isDown }
}
