import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { currentColumns } from '../../../src/inbox/conversation/activity-columns.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import { skipIfDistributed } from '../../support/database.ts'
import { receiveBatch } from '../../support/inbox/delivery-batch.ts'
import { holdConversations, waitForLockWaiter } from '../../support/inbox/gate.ts'
import { customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'

/** Counts stored customer messages: messages, unread counts, and events. */
async function countsOf({ db, workspaceId }: InboxWorld): Promise<number[]> {
  const counts = await db.sql<{ count: number }[]>`
    select count(*)::integer as count from messages where workspace_id = ${workspaceId}
    union all
    select sum(${currentColumns.unreadCount(db.sql)})::integer from conversations c where workspace_id = ${workspaceId}
    union all
    select count(*)::integer from events where workspace_id = ${workspaceId} and name = 'inbox.message.received'`
  return counts.map(({ count }) => count)
}

const phoneOf = (n: number) => `55119888${70_000 + n}`
const count = 9

/** Returns one message each of several customers, half of whom have written before. */
async function messageBurst() {
  const w = await inboxWorld()
  const customers = Array.from({ length: count }, (_, n) => ({ ...marina, phone: phoneOf(n) }))
  const write = (text: string) => (customer: typeof marina) => customerMessage({ at: w.clock.now(), customer, text })
  await w.deliver(...customers.slice(0, 4).map(write('before')))
  w.notified.wrote.length = 0
  return { w, messages: customers.map(write('now')) }
}

const passedOver = ({ logLines }: InboxWorld) =>
  logLines.filter((line) => line.includes('skipping inbound item that cannot be stored'))

/** Adds a trigger that runs the statement for each insert of the workspace into a table. */
async function onInsert({ db, workspaceId }: InboxWorld, table: string, statement: string) {
  const name = `upon_${workspaceId.replaceAll('-', '')}`
  await db.sql.unsafe(`
    create function ${name}() returns trigger language plpgsql as $$ begin ${statement}; return new; end $$;
    create trigger ${name} before insert on ${table}
      for each row when (new.workspace_id = '${workspaceId}') execute function ${name}()`)
  return () => db.sql.unsafe(`drop trigger ${name} on ${table}; drop function ${name}`)
}

test(
  'only a row that the database always rejects is logged and skipped, and every delivery is accepted',
  skipIfDistributed('it takes what one server alone has, such as triggers and roles'),
  async () => {
    const { w, messages } = await messageBurst()
    const refuse = `if new.kind = 'location' then raise exception 'never' using errcode = '22000'; end if`
    const restore = await onInsert(w, 'messages', refuse)
    const lines = w.logLines.length
    const [first, ...rest] = messages.map((message): ChannelEvent[] => [message])
    assert.ok(first !== undefined)
    const lists = [[...first, customerMessage({ at: w.clock.now(), kind: 'location' })], ...rest]
    assert.ok((await receiveBatch(w, lists)).every(Boolean))
    await restore()
    assert.deepEqual(await countsOf(w), [4 + count, 4 + count, 4 + count])
    assert.equal(
      w.logLines.slice(lines).filter((line) => line.includes('skipping inbound item that cannot be stored')).length,
      1,
    )
    assert.equal(w.notified.wrote.length, count)
  },
)

const fault = Object.assign(new RangeError('A fault of ours'), { code: 'ERR_OUT_OF_RANGE' })
const unreadable = () => {
  throw fault
}
const odd: [where: string, fields: object][] = [
  ['in the decision', { text: new Proxy({}, { get: unreadable }) }],
  ['in the write', { kind: {} }],
]

for (const [where, fields] of odd) {
  test(`a bug in handling one item, ${where}, skips that item without affecting other deliveries`, async () => {
    const { w, messages } = await messageBurst()
    const before = passedOver(w).length
    const message = { ...customerMessage({ at: w.clock.now() }), ...fields }
    assert.ok((await receiveBatch(w, [[message], ...messages.map((each) => [each])])).every(Boolean))
    assert.deepEqual(await countsOf(w), [4 + count, 4 + count, 4 + count])
    assert.equal(passedOver(w).length - before, 1)
  })
}

test(
  'a status of an unknown message that the database always rejects is skipped, and the others are stored',
  skipIfDistributed('it takes what one server alone has, such as triggers and roles'),
  async () => {
    const w = await inboxWorld()
    const refuse = `if new.error_code = '7' then raise exception 'never' using errcode = '22000'; end if`
    const restore = await onInsert(w, 'parked_statuses', refuse)
    const odd = w.status('wamid.odd', 'failed', { errorCode: '7' })
    assert.ok(
      (await receiveBatch(w, [[w.status('wamid.1', 'read')], [odd], [w.status('wamid.2', 'read')]])).every(Boolean),
    )
    await restore()
    const rows = await w.db.sql`select status from parked_statuses where workspace_id = ${w.workspaceId}`
    assert.deepEqual(
      rows.map(({ status }) => status),
      ['read', 'read'],
    )
  },
)

for (const table of ['conversations', 'messages', 'events']) {
  test(
    `losing the database while writing ${table} fails the whole batch, and the repeat stores each once`,
    skipIfDistributed('it takes what one server alone has, such as triggers and roles'),
    async () => {
      const { w, messages } = await messageBurst()
      const lists = messages.map((message) => [message])
      const restore = await onInsert(w, table, 'perform pg_terminate_backend(pg_backend_pid())')
      const taken = await receiveBatch(w, lists)
      await restore()
      assert.ok(taken.every((isTaken) => !isTaken))
      assert.ok((await receiveBatch(w, lists)).every(Boolean))
      assert.deepEqual(await countsOf(w), [4 + count, 4 + count, 4 + count])
    },
  )
}

test(
  'a conversation locked by others blocks neither another workspace nor other customers of its own',
  skipIfDistributed('who waits for whom is seen by the locks of one server'),
  async () => {
    const [{ w, messages }, other] = [await messageBurst(), await inboxWorld()]
    const receive = createReceive(w.receiveDeps)
    const receiverOf = ({ workspaceId, connectionId: id }: InboxWorld) =>
      ({ workspaceId, id, channel: 'waba' }) as const
    const [held, ...rest] = messages
    assert.ok(held !== undefined)
    const release = await holdConversations(w)
    const waiting = receive(receiverOf(w), [held])
    await waitForLockWaiter(w)
    await receive(receiverOf(other), [customerMessage({ at: w.clock.now() })])
    await Promise.all(rest.slice(4).map((message) => receive(receiverOf(w), [message])))
    assert.deepEqual(await countsOf(other), [1, 1, 1])
    assert.deepEqual(await countsOf(w), [4 + 4, 4 + 4, 4 + 4])
    await Promise.all([release(), waiting])
    assert.deepEqual(await countsOf(w), [4 + 5, 4 + 5, 4 + 5])
  },
)
