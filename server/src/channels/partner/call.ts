import type { PartnerConnection } from '../connection/connection.ts'
import type { Connector } from '../connector.ts'
import { type Judgement, notDelivered } from '../waba/errors.ts'
import { type Call, exchange, type Wire } from '../waba/exchange.ts'
import { type Loose, objectOf, readJson } from '../waba/json.ts'
import { cloudConnector } from '../waba/sender.ts'
import { judgePartner } from './errors.ts'
import { type Profile, profiles } from './profile.ts'

const timeoutMs = 20_000

/** The way out over a partner of the official platform. `sendTimeoutMs` bounds one call. */
export const partnerConnector = (wire: Wire, sendTimeoutMs: number = timeoutMs): Connector<PartnerConnection> =>
  cloudConnector(wire, sendTimeoutMs, judgePartner, (connection) => callTo(connection, 'messagesPath'))

/** A call to the partner of a connection, with its key. */
export function callTo({ settings }: PartnerConnection, path: keyof Profile & `${string}Path`, query = '') {
  const profile = profiles[settings.profile]
  return { url: settings.baseUrl + profile[path] + query, headers: { [profile.keyHeader]: settings.apiKey } }
}

export type Asked = { ok: true; body: Loose } | ({ ok: false } & Judgement)

/** One question to the partner; never throws. */
export async function ask(wire: Wire, call: Omit<Call, 'timeoutMs' | 'deadline'>): Promise<Asked> {
  const answer = await exchange(wire, { ...call, timeoutMs })
  if (answer.outcome !== 'answered') return { ok: false, errorCode: answer.code, meaning: notDelivered }
  const body = readJson(answer.body)
  if (answer.status >= 200 && answer.status < 300) return { ok: true, body: objectOf(body) }
  return { ok: false, ...judgePartner(body, answer.status) }
}
