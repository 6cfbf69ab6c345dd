import { setTimeout as sleep } from 'node:timers/promises'
import { openExchange, requestBytes } from '../../load.ts'

export interface Agent {
  key: string
  /** Conversations that are the key's. */
  conversations: readonly string[]
}

export interface Sent {
  latencies: number[]
  /** Answers other than 202, by status. */
  refused: Record<number, number>
}

// Eight of them on one number stay below what it may send in a second.
const everyMs = 200
const text = 'Good morning! It is still there, and we are open until six.'

/** Each of the agents sends five messages a second, or fewer when they take longer, until it is told to stop. */
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
