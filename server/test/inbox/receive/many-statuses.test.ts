import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversations, fillSent, type SentMessage } from '../../../../bench/fill.ts'
import type { Db, DbOptions, Tx } from '../../../src/base/db.ts'
import type { Keyring } from '../../../src/base/encryption/keyring.ts'
import { newId } from '../../../src/base/id.ts'
import type { ChannelEvent, DeliveryStatus } from '../../../src/channels/channel-event.ts'
import { externalIndex } from '../../../src/inbox/conversation/encrypted-conversation.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import { recordPart } from '../../../src/inbox/send/record-result.ts'
import { settleSend } from '../../../src/inbox/send/settle-parts.ts'
import { openNode, skipIfDistributed, testDatabase } from '../../support/database.ts'
import { holdLocks, waitForLockWaiter } from '../../support/inbox/gate.ts'
import { type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'

interface SentWorld extends InboxWorld {
  keyring: Keyring
  conversationIds: string[]
  sent: SentMessage[]
  /** Receives the events of one callback; concurrent callbacks are batched. */
  callback(...events: ChannelEvent[]): Promise<void>
  /** Returns the statuses of the messages in the order in which they were sent. */
  standing(): Promise<string[]>
  /** Returns every event of a message in feed order. */
  steps(message: SentMessage): Promise<string[]>
}

/** Creates a workspace that has sent one message to each of this many customers. */
async function sentWorld(customers: number): Promise<SentWorld> {
  const w = await inboxWorld()
  const { db, keyStore, clock, workspaceId, connectionId, keyId } = w
  const keyring = await keyStore.keyring(workspaceId)
  const filling = { db, keyring, workspaceId, now: clock.now() }
  const conversationIds = await fillConversations(filling, { connectionId, keyId, count: customers })
  const sent = await fillSent(filling, connectionId, conversationIds, { each: 1, from: clock.now() })
  const receive = createReceive(w.receiveDeps)
  return {
    ...w,
    keyring,
    conversationIds,
    sent,
    callback: (...events) => receive({ workspaceId, id: connectionId, channel: 'waba' }, events),
    standing: async () => {
      const rows = await db.sql<{ id: string; status: string }[]>`
        select id, status
        from messages
        where workspace_id = ${workspaceId} and id = any (${sent.map(({ id }) => id)}::uuid[])`
      const statuses = new Map(rows.map(({ id, status }) => [id, status]))
      return sent.map(({ id }) => statuses.get(id) ?? 'gone')
    },
    steps: async ({ id }) => {
      const rows = await Promise.all(conversationIds.map((conversationId) => w.events(conversationId)))
      return rows
        .flat()
        .filter(({ payload }) => (payload.message_id ?? (payload.message as { id: string }).id) === id)
        .map(({ name, payload }) => `${name} ${payload.status ?? (payload.message as { status: string }).status}`)
    },
  }
}

const all = (w: SentWorld, status: DeliveryStatus) => w.sent.map(({ externalId }) => w.status(externalId, status))
const climbed = ['inbox.message.status delivered', 'inbox.message.status read']

/** Runs work with another pool, like another node. */
async function elsewhere<T>(work: (db: Db) => Promise<T>, more: Partial<DbOptions> = {}): Promise<T> {
  const { options } = await testDatabase()
  const db = openNode({ ...options, ...more })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Returns the number of statements used to receive one callback with these events. */
async function statementsFor(w: SentWorld, events: readonly ChannelEvent[]): Promise<number> {
  let statements = 0
  const receiver = { workspaceId: w.workspaceId, id: w.connectionId, channel: 'waba' } as const
  await elsewhere((db) => createReceive({ ...w.receiveDeps, db })(receiver, events), {
    onStatement: () => statements++,
  })
  return statements
}

test('a hundred statuses of as many messages cost as many statements as ten', async () => {
  const counts: number[] = []
  for (const customers of [10, 100]) {
    const w = await sentWorld(customers)
    counts.push(await statementsFor(w, all(w, 'delivered')))
    assert.deepEqual(new Set(await w.standing()), new Set(['delivered']))
  }
  assert.deepEqual(counts, [3, 3])
})

test('concurrent, repeated and unordered callbacks record exactly one event per step', async () => {
  const w = await sentWorld(20)
  const delivered = all(w, 'delivered')
  const turned = [...delivered].reverse()
  const halves = [delivered.slice(0, 10), delivered.slice(10)]
  await Promise.all([delivered, turned, ...halves, delivered].map((events) => w.callback(...events)))
  assert.deepEqual(new Set(await w.standing()), new Set(['delivered']))
  const read = all(w, 'read')
  await Promise.all([read, [...read].reverse(), delivered, read].map((events) => w.callback(...events)))
  assert.deepEqual(new Set(await w.standing()), new Set(['read']))
  for (const message of w.sent) assert.deepEqual(await w.steps(message), climbed)
})

test('statuses of one message in one batch are applied in order of platform time', async () => {
  const w = await sentWorld(1)
  const [message] = w.sent
  assert.ok(message)
  const at = (ms: number) => ({ at: new Date(w.clock.now().getTime() + ms) })
  await w.callback(w.status(message.externalId, 'read', at(2000)), w.status(message.externalId, 'delivered', at(1000)))
  assert.deepEqual(await w.steps(message), climbed)
})

test('one failure among successes affects only its message, and the connection is notified', async () => {
  const w = await sentWorld(5)
  const [failing, ...others] = all(w, 'delivered')
  assert.ok(failing?.type === 'status')
  await w.callback({ ...failing, status: 'failed', errorCode: '131047' }, ...others)
  assert.deepEqual(await w.standing(), ['failed', ...others.map(() => 'delivered')])
  assert.deepEqual(w.notified.refused, ['131047'])
  const [event] = await w.events(w.conversationIds[0] ?? '')
  assert.deepEqual([event?.payload.status, event?.payload.error_code], ['failed', '131047'])
  await w.callback(...all(w, 'read'))
  assert.deepEqual(await w.standing(), ['failed', ...others.map(() => 'read')])
})

const poisons = {
  'a time that is none': { at: new Date(Number.NaN) },
  'a code that no database takes': { status: 'failed', errorCode: 'a code with \0 in it' },
} as const
for (const [what, poison] of Object.entries(poisons)) {
  test(`a status that cannot be stored blocks no other of its batch: ${what}`, async () => {
    const w = await sentWorld(6)
    const [first, ...others] = all(w, 'delivered')
    assert.ok(first?.type === 'status')
    const bad = { ...first, ...poison }
    await Promise.all([w.callback(others[0] ?? bad, bad), w.callback(...others.slice(1))])
    assert.deepEqual(await w.standing(), ['sent', ...others.map(() => 'delivered')])
    await w.callback(...all(w, 'read'))
    assert.deepEqual(new Set(await w.standing()), new Set(['read']))
  })
}

/** Does what a send does with the platform's response. */
async function noteAccepted(
  tx: Tx,
  w: SentWorld,
  conversationId: string,
  messageId: string,
  externalId: string,
  part = 1,
): Promise<void> {
  const index = externalIndex(w.keyring, w.connectionId, externalId)
  const result = { verdict: 'accepted', errorCode: null, externalIndex: index, externalId: null } as const
  await recordPart(tx, { workspaceId: w.workspaceId, conversationId, messageId }, part, result)
}

async function settle(w: SentWorld, conversationId: string, messageId: string): Promise<void> {
  const { workspaceId } = w
  const step = <T>(_name: string, work: () => T) => work()
  const connectors = { waba: {}, unofficial: {}, partner: {}, website: {} }
  await settleSend({ ...w.receiveDeps, connectors, step }, { workspaceId, conversationId, messageId }, 'answered')
}

test(
  'recording a response while a status of another part is applied loses neither',
  skipIfDistributed('who waits for whom is seen by the locks of one server'),
  async () => {
    const w = await sentWorld(1)
    const [conversationId = ''] = w.conversationIds
    const messageId = await w.pendingSend(conversationId, 2)
    await whileHolding(
      w,
      (tx) => noteAccepted(tx, w, conversationId, messageId, 'wamid.part.2', 2),
      () => w.callback(w.status('wamid.part.1', 'delivered', { correlator: `${messageId}:1` })),
    )
    const parts = await w.db.sql<{ status: string; is_named: boolean }[]>`
    select status, external_index is not null as is_named
    from message_parts
    where workspace_id = ${w.workspaceId} and message_id = ${messageId}
    order by part`
    assert.deepEqual(
      [...parts],
      [
        { status: 'delivered', is_named: true },
        { status: 'sent', is_named: true },
      ],
    )
  },
)

/** Runs `hold` in a transaction that ends after `other` waits for its locks and the third has run. */
async function whileHolding(
  w: SentWorld,
  hold: (tx: Tx) => Promise<unknown>,
  other: () => Promise<void>,
  meanwhile: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const release = await holdLocks(w.db, hold)
  const others = other()
  await waitForLockWaiter(w)
  await release(meanwhile)
  await others
}

test('a message of ours that arrived first as an echo advances by its own statuses', async () => {
  const w = await sentWorld(1)
  const [conversationId = ''] = w.conversationIds
  const messageId = await w.pendingSend(conversationId)
  const customer = { ...marina, phone: '5511900000000' }
  const at = w.clock.now()
  await w.callback({ type: 'echo', externalId: 'wamid.twice', customer, kind: 'text', text: 'Good morning', at })
  await w.callback(w.status('wamid.twice', 'delivered', { correlator: `${messageId}:1` }))
  await w.callback(w.status('wamid.twice', 'read', { correlator: `${messageId}:1` }))
  assert.deepEqual(await w.steps({ id: messageId, externalId: '' }), ['inbox.message.sent sent', ...climbed])
})

test(
  'conversations are locked in id order, so that there is no deadlock',
  skipIfDistributed('who waits for whom is seen by the locks of one server'),
  async () => {
    const w = await sentWorld(3)
    const ids = [...w.conversationIds].sort()
    const lock = (tx: Tx, id = '') =>
      tx`select from conversations where workspace_id = ${w.workspaceId} and id = ${id} for update nowait`
    await whileHolding(
      w,
      (tx) => lock(tx, ids[0]),
      () => w.callback(...all(w, 'delivered')),
      async (tx) => {
        // It holds no lock after the one that it waits for.
        for (const id of ids.slice(1)) await lock(tx, id)
      },
    )
  },
)

test('sends settled while their statuses arrive reach the highest reported status, with each step once', async () => {
  const w = await sentWorld(8)
  const sends = await Promise.all(
    w.conversationIds.map(async (conversationId, n) => ({
      conversationId,
      id: await w.pendingSend(conversationId),
      externalId: `wamid.settled.${n}.${newId(w.clock.now())}`,
    })),
  )
  const told = (status: DeliveryStatus) => [
    ...all(w, status),
    ...sends.map(({ id, externalId }) => w.status(externalId, status, { correlator: `${id}:1` })),
  ]
  await Promise.all([
    ...sends.map(async ({ conversationId, id, externalId }) => {
      await w.db.tx((tx) => noteAccepted(tx, w, conversationId, id, externalId))
      await settle(w, conversationId, id)
    }),
    w.callback(...told('delivered')),
    w.callback(...told('delivered').reverse()),
  ])
  await Promise.all([w.callback(...told('read').reverse()), w.callback(...told('read'))])
  for (const message of w.sent) assert.deepEqual(await w.steps(message), climbed)
  for (const send of sends) assert.deepEqual(await w.steps(send), ['inbox.message.sent sent', ...climbed])
})
