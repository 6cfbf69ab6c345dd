import { fillSentBaseline } from '../../baselines/inbox-baseline-tables.ts'
import { callbackOf, signedCallback, webhookPath } from '../../callbacks.ts'
import type { Comparison } from '../../comparison.ts'
import { type Filling, fillSent, type SentMessage } from '../../fill.ts'
import { customerPhone, type SeededConnection } from '../../inbox-seed.ts'
import { countEvents } from './count-events.ts'

interface Kind {
  name: string
  /** Number of statuses per callback, each for a different message. */
  statuses: number
  /** Number of messages sent to each conversation beforehand: each can advance twice. */
  sentEach: number
  /** Age of the messages, in hours. */
  hoursAgo: number
  /** Fewer connections than the run's, for callbacks with many statuses. */
  width?: number
}

/** Contests of callbacks with statuses of sent messages: every status advances a message and creates an event. */
export function statusContests(filling: Filling, connections: readonly SeededConnection[]): Comparison[] {
  return [
    statuses(filling, connections, { name: 'callback with one status', statuses: 1, sentEach: 3, hoursAgo: 6 }),
    statuses(filling, connections, {
      name: 'callback with 100 statuses',
      statuses: 100,
      sentEach: 6,
      hoursAgo: 12,
      width: 8,
    }),
  ]
}

function statuses(filling: Filling, connections: readonly SeededConnection[], kind: Kind): Comparison {
  const { db } = filling
  const sent: SentMessage[][] = []
  let expected = 0
  const signed = (n: number, pathOf: (connection: SeededConnection) => string) => {
    const { status, at, messages } = stepOf(n, sent, kind)
    const connection = connections[at] as SeededConnection
    return signedCallback(pathOf(connection), callback(connection, status, messages))
  }
  return {
    name: kind.name,
    ...(kind.width === undefined ? {} : { connections: kind.width }),
    prepare: async () => {
      const from = new Date(filling.now.getTime() - kind.hoursAgo * 3_600_000)
      for (const { id, conversations } of connections) {
        sent.push(await fillSent(filling, id, conversations, { each: kind.sentEach, from }))
        await fillSentBaseline(db, sent.at(-1)?.map(({ externalId }) => externalId) ?? [])
      }
      for (const table of ['messages', 'message_parts', 'floor_messages'])
        await db.sql.unsafe(`vacuum analyze ${table}`)
      expected = await countEvents(db, 'inbox.message.status')
    },
    product: (n) => signed(n, webhookPath),
    baseline: (n) => signed(n, () => '/statuses'),
    verify: async (answers) => {
      expected += answers * kind.statuses
      const stored = await countEvents(db, 'inbox.message.status')
      if (stored !== expected) throw new Error(`${stored} statuses are stored, ${expected} expected`)
    },
  }
}

interface Step {
  status: 'delivered' | 'read'
  /** Index of the connection, and its messages. */
  at: number
  messages: SentMessage[]
}

/** Returns the n-th callback's status. `read` follows so long after `delivered` that the latter is stored by then. */
function stepOf(n: number, sent: readonly SentMessage[][], { name, statuses: count }: Kind): Step {
  const stride = sent.length * Math.ceil(100 / count)
  const [pass, place] = [Math.floor(n / stride), n % stride]
  const messageIndex = Math.floor(pass / 2) * stride + place
  const [at, first] = [messageIndex % sent.length, Math.floor(messageIndex / sent.length) * count]
  const messages = sent[at]?.slice(first, first + count) ?? []
  if (messages.length < count) throw new Error(`${name}: no messages left. Measure less, or send more messages.`)
  return { status: pass % 2 === 0 ? 'delivered' : 'read', at, messages }
}

function callback(connection: SeededConnection, status: Step['status'], messages: readonly SentMessage[]): object {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const statusItems = messages.map(({ id, externalId }, n) => ({
    id: externalId,
    status,
    timestamp,
    recipient_id: customerPhone(n),
    biz_opaque_callback_data: `${id}:1`,
    conversation: { id: 'c3a1f2d4e5b60718293a4b5c6d7e8f90', origin: { type: 'service' } },
    pricing: { billable: false, pricing_model: 'PMP', category: 'service', type: 'free_customer_service' },
  }))
  return callbackOf(connection, { statuses: statusItems })
}
