import type { Db } from '../../../server/src/base/db.ts'
import { baselineConversation } from '../../baselines/inbox-baseline-tables.ts'
import type { Comparison, Peer } from '../../comparison.ts'
import type { SeededConnection } from '../../inbox-seed.ts'
import { requestBytes } from '../../load.ts'

/** Slow platform with connections to it, and a baseline with the same delay. */
export interface SlowPlatform {
  delayMs: number
  connections: readonly SeededConnection[]
  baseline: Peer
}

export function sends(
  db: Db,
  key: string,
  connections: readonly SeededConnection[],
  { delayMs, connections: slow, baseline }: SlowPlatform,
): Comparison[] {
  return [
    send(db, 'send, platform answers at once', key, connections),
    { ...send(db, `send, platform answers in ${delayMs} ms`, key, slow), baselinePeer: baseline },
  ]
}

function send(db: Db, name: string, key: string, connections: readonly SeededConnection[]): Comparison {
  const body = { kind: 'text', text: 'Good morning! It is still there, and we are open until six.' }
  // The key cannot reply in conversations owned by people: every third.
  const own = connections.map(({ conversations }) => conversations.filter((_, n) => n % 3 !== 0))
  const conversationOf = (n: number) => {
    const ofOne = own[n % own.length] ?? []
    return ofOne[Math.floor(n / own.length) % ofOne.length]
  }
  return {
    name,
    product: (n) => {
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': `${name} ${n}` }
      return requestBytes('POST', `/api/v1/inbox/conversations/${conversationOf(n)}/messages`, headers, body)
    },
    baseline: (n) => requestBytes('POST', `/conversations/${baselineConversation(n % 20_000)}/messages`, {}, body),
    verify: async (answers) => {
      const [row] = await db.sql<{ sent: number }[]>`
        select count(*)::integer as sent
        from sends s
        join messages m on m.workspace_id = s.workspace_id and m.id = s.message_id
        where m.status = 'sent'
          and coalesce(s.answer_status, 202) = 202
          and starts_with(s.idempotency_key, ${name})`
      if ((row?.sent ?? 0) < answers) throw new Error(`${answers} sends were answered, ${row?.sent} of them sent`)
    },
  }
}
