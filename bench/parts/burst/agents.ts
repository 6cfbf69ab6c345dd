import { setTimeout as sleep } from 'node:timers/promises'
import { openExchange, requestBytes } from '../../load.ts'

export interface Agent {
  key: string
  /** Conversations owned by the key. */
  conversations: readonly string[]
}

export interface Sent {
  latencies: number[]
  /** Answers other than 202, by status. */
  refused: Record<number, number>
}

// Eight agents on one number stay below its send rate limit.
const everyMs = 200
const text = 'Good morning! It is still there, and we are open until six.'

/** Makes each agent send five messages a second, or fewer if they take longer, until `isOver`. */
export async function answer(port: number, agents: readonly Agent[], isOver: () => boolean): Promise<Sent> {
  const sent: Sent = { latencies: [], refused: {} }
  const run = async ({ key, conversations }: Agent) => {
    const exchange = openExchange(port)
    for (let n = 0; !isOver(); n++) {
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': crypto.randomUUID() }
      const path = `/api/v1/inbox/conversations/${conversations[n % conversations.length]}/messages`
      const sentAt = performance.now()
      const status = await exchange.send(requestBytes('POST', path, headers, { kind: 'text', text }))
      const tookMs = performance.now() - sentAt
      if (status === 202) sent.latencies.push(tookMs)
      else sent.refused[status] = (sent.refused[status] ?? 0) + 1
      await sleep(Math.max(0, everyMs - tookMs))
    }
    exchange.close()
  }
  await Promise.all(agents.map(run))
  return sent
}
