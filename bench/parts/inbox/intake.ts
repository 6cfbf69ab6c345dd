import { createHmac } from 'node:crypto'
import type { Db } from '../../../server/src/base/db.ts'
import type { Contest } from '../../contest.ts'
import { appSecret, customerPhone, type SeededConnection } from '../../inbox-seed.ts'
import { rawRequestBytes } from '../../load.ts'
import { countEvents } from './count-events.ts'

/** How many conversations each connection has; the n-th is `customerPhone(n)`'s. */
export const conversationsEach = 400

interface Intake {
  name: string
  messages: number
  /** How many customers they are of. */
  customers: number
  /** All by the first one of them, instead of by each in turn. */
  isOneNumber?: boolean
  /** Connections of the load, fewer than the run's for callbacks that hold much work each. */
  width?: number
}

/** Callbacks with messages of customers, stored before they are answered. */
export function intakes(db: Db, connections: readonly SeededConnection[]): Contest[] {
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

function intake(db: Db, all: readonly SeededConnection[], kind: Intake): Contest {
  let before = 0
  const connections = kind.isOneNumber ? all.slice(0, 1) : all
  const signed = (n: number, pathOf: (connection: SeededConnection) => string) => {
    const connection = connections[n % connections.length] as SeededConnection
    const payload = JSON.stringify(callback(connection, n, kind))
    const signature = `sha256=${createHmac('sha256', appSecret).update(payload).digest('hex')}`
    return rawRequestBytes('POST', pathOf(connection), { 'x-hub-signature-256': signature }, payload)
  }
  return {
    name: kind.name,
    ...(kind.width === undefined ? {} : { connections: kind.width }),
    product: (n) => signed(n, ({ id }) => `/channels/waba/${id}/webhook`),
    floor: (n) => signed(n, () => '/webhook'),
    prepare: async () => {
      before = await countEvents(db, 'inbox.message.received')
    },
    verify: async (answers) => {
      const stored = (await countEvents(db, 'inbox.message.received')) - before
      const told = answers * kind.messages
      if (stored < told) throw new Error(`${told} messages were taken, ${stored} stored`)
    },
  }
}

let runs = 0

function callback({ numberId }: SeededConnection, n: number, { messages: count, customers }: Intake): object {
  const run = ++runs
  const timestamp = String(Math.floor(Date.now() / 1000))
  const phones = Array.from({ length: count }, (_, i) => customerPhone((n * 31 + (i % customers)) % conversationsEach))
  const messages = phones.map((from, i) => ({
    from,
    id: `wamid.IN${run}.${i}`,
    timestamp,
    type: 'text',
    text: { body: 'Hello, is the blue one still there? I could come by tomorrow.' },
  }))
  const contacts = phones.map((phone) => ({ profile: { name: 'Ana' }, wa_id: phone }))
  const metadata = { display_phone_number: '4930123456', phone_number_id: numberId }
  const value = { messaging_product: 'whatsapp', metadata, contacts, messages }
  return { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] }
}
