import { fillSentFloor } from '../../baselines/inbox-baseline-tables.ts'
import { callbackOf, signedCallback, webhookPath } from '../../callbacks.ts'
import type { Contest } from '../../contest.ts'
import { type Filling, fillSent, type SentMessage } from '../../fill.ts'
import { customerPhone, type SeededConnection } from '../../inbox-seed.ts'
import { countEvents } from './count-events.ts'

interface Kind {
  name: string
  /** How many statuses a callback tells, each of another message. */
  statuses: number
  /** Messages that are sent to each conversation beforehand: each can climb twice. */
  sentEach: number
  /** How long ago they were sent. */
  hoursAgo: number
  /** Connections of the load, fewer than the run's for callbacks that hold much work each. */
  width?: number
}

/** Callbacks that tell how far sent messages have come: all that is told moves a message up, and makes an event. */
export function statusContests(filling: Filling, connections: readonly SeededConnection[]): Contest[] {
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

function statuses(filling: Filling, connections: readonly SeededConnection[], kind: Kind): Contest {
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
        await fillSentFloor(db, sent.at(-1)?.map(({ externalId }) => externalId) ?? [])
      }
      for (const table of ['messages', 'message_parts', 'floor_messages'])
        await db.sql.unsafe(`vacuum analyze ${table}`)
      expected = await countEvents(db, 'inbox.message.status')
    },
    product: (n) => signed(n, webhookPath),
    floor: (n) => signed(n, () => '/statuses'),
    verify: async (answers) => {
      expected += answers * kind.statuses
      const stored = await countEvents(db, 'inbox.message.status')
      if (stored !== expected) throw new Error(`${expected} steps were to be stored, ${stored} are`)
    },
  }
}

interface Step {
  status: 'delivered' | 'read'
  /** Which connection, and what it is told of. */
  at: number
  messages: SentMessage[]
}

/** Which step the n-th callback tells. `read` comes so far behind `delivered` that this is stored by then. */
function stepOf(n: number, sent: readonly SentMessage[][], { name, statuses: count }: Kind): Step {
  const stride = sent.length * Math.ceil(100 / count)
  const [lap, place] = [Math.floor(n / stride), n % stride]
  const turn = Math.floor(lap / 2) * stride + place
  const [at, first] = [turn % sent.length, Math.floor(turn / sent.length) * count]
  const messages = sent[at]?.slice(first, first + count) ?? []
  if (messages.length < count) throw new Error(`${name}: its messages are used up. Measure less, or send more of them.`)
  return { status: lap % 2 === 0 ? 'delivered' : 'read', at, messages }
}

function callback(connection: SeededConnection, status: Step['status'], messages: readonly SentMessage[]): object {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const told = messages.map(({ id, externalId }, n) => ({
    id: externalId,
    status,
    timestamp,
    recipient_id: customerPhone(n),
    biz_opaque_callback_data: `${id}:1`,
    conversation: { id: 'c3a1f2d4e5b60718293a4b5c6d7e8f90', origin: { type: 'service' } },
    pricing: { billable: false, pricing_model: 'PMP', category: 'service', type: 'free_customer_service' },
  }))
  return callbackOf(connection, { statuses: told })
}
