import type { Db } from '../../../server/src/base/db.ts'
import { callbackOf, signedCallback, textsOf, webhookPath } from '../../callbacks.ts'
import type { Comparison } from '../../comparison.ts'
import { customerPhone, type SeededConnection } from '../../inbox-seed.ts'
import { countEvents } from './count-events.ts'

/** Number of conversations per connection; the n-th is with `customerPhone(n)`. */
export const conversationsEach = 400

interface Intake {
  name: string
  messages: number
  /** Number of customers who wrote them. */
  customers: number
  /** Whether all are from the first customer, instead of each in turn. */
  isOneNumber?: boolean
  /** Fewer connections than the run's, for callbacks with many messages. */
  width?: number
}

/** Contests of callbacks with customers' messages, which are stored before the answer. */
export function intakes(db: Db, connections: readonly SeededConnection[]): Comparison[] {
  return [
    intake(db, connections, { name: 'callback with one message', messages: 1, customers: 1 }),
    intake(db, connections, {
      name: 'callback with one message, one number',
      messages: 1,
      customers: 1,
      isOneNumber: true,
    }),
    intake(db, connections, { name: 'callback with 100 messages', messages: 100, customers: 100, width: 8 }),
    intake(db, connections, {
      name: 'callback with 100 messages of one customer',
      messages: 100,
      customers: 1,
      width: 8,
    }),
  ]
}

function intake(db: Db, all: readonly SeededConnection[], kind: Intake): Comparison {
  let before = 0
  const connections = kind.isOneNumber ? all.slice(0, 1) : all
  const signed = (n: number, pathOf: (connection: SeededConnection) => string) => {
    const connection = connections[n % connections.length] as SeededConnection
    return signedCallback(pathOf(connection), callback(connection, n, kind))
  }
  return {
    name: kind.name,
    ...(kind.width === undefined ? {} : { connections: kind.width }),
    product: (n) => signed(n, webhookPath),
    baseline: (n) => signed(n, () => '/webhook'),
    prepare: async () => {
      before = await countEvents(db, 'inbox.message.received')
    },
    verify: async (answers) => {
      const stored = (await countEvents(db, 'inbox.message.received')) - before
      const accepted = answers * kind.messages
      if (stored < accepted) throw new Error(`${accepted} messages were accepted, ${stored} stored`)
    },
  }
}

let runs = 0

function callback(connection: SeededConnection, n: number, { messages: count, customers }: Intake): object {
  const run = ++runs
  const written = Array.from({ length: count }, (_, i) => ({
    from: customerPhone((n * 31 + (i % customers)) % conversationsEach),
    id: `wamid.IN${run}.${i}`,
    body: 'Hello, is the blue one still there? I could come by tomorrow.',
  }))
  return callbackOf(connection, textsOf(written))
}
