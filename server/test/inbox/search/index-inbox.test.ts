import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillMessages } from '../../../../bench/fill.ts'
import { createInboxIndexer, indexInbox, settledMs } from '../../../src/inbox/search/index-inbox.ts'
import { lockProgress } from '../../../src/inbox/search/progress.ts'
import { openNode, statementsOf, testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { holdLocks } from '../../support/inbox/gate.ts'
import { customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { rotate } from '../../support/key-rotation/rotate-keys.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { makeInboxTokens } from '../../support/tokens.ts'

interface Row {
  id: string
  epoch: number
  index_version: number
  tokens: number[]
}

const rowsOf = ({ db, workspaceId }: Pick<InboxWorld, 'db' | 'workspaceId'>) => db.sql<Row[]>`
  select message_id as id, epoch, index_version, tokens
  from message_search
  where workspace_id = ${workspaceId}
  order by message_id`

async function conversationRows({ db, workspaceId }: InboxWorld): Promise<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    select conversation_id as id
    from conversation_search
    where workspace_id = ${workspaceId}
    order by 1`
  return rows.map(({ id }) => id)
}

async function find(member: TestMember, search: string): Promise<string[]> {
  const { status, body } = await member.call('GET', `/inbox/messages?search=${search}&limit=50`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.messages.map(({ id }: { id: string }) => id)
}

async function fill(w: InboxWorld, id: string, count: number): Promise<void> {
  const keyring = await w.keyStore.keyring(w.workspaceId)
  await fillMessages({ ...w, keyring, now: w.clock.now() }, w.connectionId, [id], count)
}

test('rows older than a minute are indexed, and younger ones are scanned', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  await w.customerWrites('An old sofa')
  w.clock.advance(settledMs + 10_000)
  await w.customerWrites('A young sofa')
  assert.ok((await indexInbox(w)) > 0)
  assert.equal((await rowsOf(w)).length, 1)
  assert.equal((await find(member, 'sofa')).length, 2)
})

test('while an older transaction is open, indexing does not pass what it may commit', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const { options } = await testDatabase()
  const other = openNode(options)
  atEnd(() => other.close())
  const { id } = await w.customerWrites('First')
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const [row] = await w.db.sql<{ id: string }[]>`select id from messages where workspace_id = ${w.workspaceId}`
  const lateId = `${row?.id.slice(0, 35)}${row?.id.at(-1) === 'f' ? '0' : 'f'}`
  // Like a transaction that has created its message id and waits.
  const end = await holdLocks(other, (tx) => tx`select 1`)
  // The settling time has just passed.
  w.clock.advance(settledMs + 1)
  await indexInbox(w)
  await end(
    (tx) => tx`
      insert into messages (
        workspace_id, id, conversation_id, connection_id, direction, kind, origin, content, status, occurred_at, created_at
      )
      select workspace_id, ${lateId}, conversation_id, connection_id, direction, kind, origin, ${keyring.encrypt(
        { table: 'messages', row: lateId, column: 'content' },
        JSON.stringify({ text: 'Late sofa', referral: null }),
      )}, status, occurred_at + interval '1 ms', created_at
      from messages
      where workspace_id = ${w.workspaceId}
        and conversation_id = ${id}`,
  )
  await makeInboxTokens(w)
  assert.deepEqual(await find(member, 'late'), [lateId])
})

test('interrupted indexing continues where it stopped, and two workers index each row once', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hello')
  await fill(w, id, 1_200)
  w.clock.advance(settledMs + 10_000)
  const failing = {
    ...w,
    db: {
      ...w.db,
      tx: (() => {
        let left = 2
        return async (work: Parameters<typeof w.db.tx>[0]) => {
          if (left-- <= 0) throw new Error('The worker died')
          return w.db.tx(work)
        }
      })() as typeof w.db.tx,
    },
  }
  await assert.rejects(indexInbox(failing), /The worker died/)
  const half = (await rowsOf(w)).length
  assert.ok(half >= 500 && half < 1_201, String(half))
  await Promise.all([indexInbox(w), indexInbox(w)])
  await makeInboxTokens(w)
  assert.equal((await rowsOf(w)).length, 1_201)
})

test('an indexer does not wait for locks, and skips a workspace during deletes', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Hello')
  await makeInboxTokens(w)
  await w.customerWrites('Again')
  w.clock.advance(settledMs + 10_000)
  const { options } = await testDatabase()
  const other = openNode(options)
  atEnd(() => other.close())
  await other.tx(async (tx) => {
    await lockProgress(tx, w.workspaceId)
    assert.equal(await indexInbox(w), 0)
  })
  assert.ok((await indexInbox(w)) > 0)
})

test('an erasure blocks indexing before it deletes a message, and leaves no tokens', async () => {
  const w = await inboxWorld()
  const admin = await signedInMember(w, 'admin')
  await w.customerWrites('The blue sofa')
  await makeInboxTokens(w)
  let status = 0
  const texts = (
    await statementsOf(async () => {
      status = (await admin.call('POST', '/erasures', { phone: marina.phone })).status
    })
  ).map(({ text }) => text)
  assert.equal(status, 201)
  const first = (shape: RegExp) => texts.findIndex((text) => shape.test(text))
  const held = first(/inbox_search_progress p\s.*for update$/s)
  assert.ok(held !== -1 && held < first(/delete from messages/), `${held} of ${texts.length}`)
  assert.deepEqual([(await rowsOf(w)).length, await conversationRows(w)], [0, []])
})

test('two merged conversations leave the tokens of one', async () => {
  const w = await inboxWorld()
  const user = { ...marina, phone: null, userId: 'user-1' }
  await w.customerWrites('By number')
  await w.deliver({ ...messageOf(w), customer: user })
  await makeInboxTokens(w)
  assert.equal((await conversationRows(w)).length, 2)
  await w.deliver({ ...messageOf(w), customer: { ...marina, userId: 'user-1' } })
  const [left] = await w.conversations()
  assert.deepEqual(await conversationRows(w), [left.id])
  assert.equal((await rowsOf(w)).length, 2)
})

test('a new index key replaces all tokens, in their epochs, and finds what the previous one found', async () => {
  const w = await inboxWorld({ key: { scopes: ['inbox.read'] } })
  const member = await signedInMember(w)
  const { id } = await w.customerWrites('The blue sofa')
  await makeInboxTokens(w)
  await w.db.sql`update message_search set epoch = 0 where workspace_id = ${w.workspaceId}`
  await w.db.sql`
    update inbox_search_progress
    set epoch = 3
    where workspace_id = ${w.workspaceId}`
  w.clock.advance(1000)
  await w.customerWrites('The red sofa')
  await makeInboxTokens(w)
  const before = await rowsOf(w)
  assert.deepEqual(
    before.map(({ epoch }) => epoch),
    [0, 3],
  )
  await rotate(w, 'index')
  const after = await rowsOf(w)
  assert.deepEqual(
    after.map(({ epoch, index_version: version }) => [epoch, version]),
    [
      [0, 2],
      [3, 2],
    ],
  )
  for (const [n, row] of after.entries()) {
    assert.equal(row.tokens.length, before[n]?.tokens.length)
    assert.equal(row.tokens.filter((token) => before[n]?.tokens.includes(token)).length, 0)
  }
  assert.equal((await find(member, 'sofa')).length, 2)
  assert.equal((await find(member, 'blue')).length, 1)
  const { body } = await member.call('GET', '/inbox/conversations?search=duarte')
  assert.deepEqual(
    body.conversations.map((one: { id: string }) => one.id),
    [id],
  )
})

test('a worker indexes workspaces with changes, pauses between runs, and scans all workspaces once', async () => {
  const w = await inboxWorld()
  const { work } = createInboxIndexer(w)
  const looks = async (afterMs: number) => {
    w.clock.advance(afterMs)
    return (await statementsOf(async () => void (await work()))).length > 0
  }
  assert.deepEqual([await looks(0), await looks(0), await looks(11_000)], [true, false, false])
  await w.customerWrites('Hello')
  assert.equal(await looks(11_000), true)
  assert.equal((await rowsOf(w)).length, 0, 'it is too young')
  await looks(settledMs)
  assert.equal((await rowsOf(w)).length, 1)
  await looks(11_000)
  assert.equal(await looks(11_000), false, 'all of it is done')
})

const messageOf = (w: InboxWorld) => customerMessage({ at: w.clock.now(), text: 'By id' })
