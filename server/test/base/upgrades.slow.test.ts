import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import { migrate } from '../../src/base/migrate.ts'
import { emptyDatabase } from '../support/database.ts'
import { oncePerFile } from '../support/file-lifecycle.ts'

// One database, upgraded from the first migration to the last: each test fills it at the migration before its own.

const now = new Date()
const [keyId, userId, phoneId] = [randomUUID(), randomUUID(), randomUUID()]

const numbers: [channel: string, numberId: string, state: string, lastEvent: Date | null, reservedAs: string | null][] =
  [
    ['waba', '1', 'active', null, 'https://graph.facebook.com 1'],
    ['waba', '2', 'paused', null, 'https://graph.facebook.com 2'],
    ['waba', '3', 'unavailable', now, 'https://graph.facebook.com 3'],
    ['waba', '4', 'unavailable', null, null],
    ['partner', '5', 'active', null, 'https://waba-v2.360dialog.io 5'],
    ['unofficial', '5581', 'unavailable', now, 'network 5581'],
    ['unofficial', phoneId, 'paused', null, null],
  ]

const conversations: [what: string, owner: string | null, assigned: string | null, kinds: string[], held: boolean][] = [
  ['came from an agent', null, null, ['owner', 'owner'], true],
  ['is assigned', null, userId, [], true],
  ['nobody looked at', null, null, [], false],
  ['was only labelled', null, null, ['labels', 'status'], false],
  ['an agent has', keyId, userId, ['owner'], false],
]

const upgraded = oncePerFile(async () => {
  const { db } = await emptyDatabase()

  await migrate(db, undefined, 15)
  const withNumbers = await addWorkspace(db)
  for (const [channel, numberId, state, lastEvent] of numbers) {
    await addConnection(db, withNumbers, { channel, numberId, state, lastEvent })
  }
  await db.sql`
    insert into forms (
      workspace_id, id, slug, name, title, fields, submit_label, thank_you, allowed_origins, source, status, active,
      created_at, updated_at
    )
    values (
      ${withNumbers}, ${randomUUID()}, 'talk-to-us', 'x', 'x', '[]', 'x', 'x', '{}', 'website', 'new', true, now(), now()
    )`

  await migrate(db, undefined, 25)
  const withConversations = await addWorkspace(db)
  const connectionId = await addConnection(db, withConversations, { channel: 'waba', numberId: '6', state: 'active' })
  const ids = new Map<string, string>()
  for (const [n, [what, owner, assigned, kinds]] of conversations.entries()) {
    const id = randomUUID()
    ids.set(id, what)
    await db.sql`
      insert into conversations (
        workspace_id, id, connection_id, channel, contact, index_version, owner_key_id, owner_since, status, assigned_to,
        unread_count, last_message_at, unanswered_since, created_at, updated_at
      )
      values (
        ${withConversations}, ${id}, ${connectionId}, 'waba', '', 1, ${owner}, now(), 'open', ${assigned},
        ${n}, now() - ${n}::int * interval '1 day', now() - ${n}::int * interval '1 day', now(), now() - ${n}::int * interval '1 hour'
      )`
    for (const kind of kinds) {
      await db.sql`
        insert into conversation_activities (workspace_id, id, conversation_id, kind, detail, actor_type, created_at)
        values (${withConversations}, ${randomUUID()}, ${id}, ${kind}, '{}', 'system', now())`
    }
  }

  await migrate(db, undefined, 43)
  const places = () => db.sql`
    select id, unread_count, last_message_at, unanswered_since, updated_at
    from conversations
    order by id`
  const placesBefore = await places()

  await db.sql`update workspaces set agent_word = 'Be brief.' where id = ${withConversations}`
  await migrate(db)
  return { db, withNumbers, withConversations, ids, placesBefore, places }
})

test('an upgrade keeps valid phone numbers and the addresses of all forms', async () => {
  const { db, withNumbers } = await upgraded()
  const rows = await db.sql<{ number: string; reservedAs: string | null }[]>`
    select number_id as number, reserved_as as "reservedAs" from connections where workspace_id = ${withNumbers}`
  const found = Object.fromEntries(rows.map(({ number, reservedAs }) => [number, reservedAs]))
  assert.deepEqual(found, Object.fromEntries(numbers.map(([, number, , , reservedAs]) => [number, reservedAs])))
  assert.equal((await db.sql`select 1 from form_slugs where slug = 'talk-to-us'`).length, 1)
})

test('an upgrade keeps the owner of each conversation', async () => {
  const { db, withConversations, ids } = await upgraded()
  const rows = await db.sql<{ id: string; held: boolean }[]>`select id, held from conversations`
  const held = Object.fromEntries(rows.map((row) => [ids.get(row.id), row.held]))
  assert.deepEqual(held, Object.fromEntries(conversations.map(([what, , , , expected]) => [what, expected])))
  const [workspace] = await db.sql`select agents_may_take_back from workspaces where id = ${withConversations}`
  assert.equal(workspace?.agents_may_take_back, 'always')
})

test('an upgrade keeps the order of conversations', async () => {
  const { db, placesBefore, places } = await upgraded()
  assert.deepEqual(await places(), placesBefore)
  const [moving] = await db.sql`
    select
      (select count(*)::integer from conversations where is_moving) as flags,
      (select count(*)::integer from moving_conversations) as rows`
  assert.deepEqual({ ...moving }, { flags: 0, rows: 0 })
})

test('an upgrade makes the instructions of a workspace version 1, in force since its last change', async () => {
  const { db, withConversations } = await upgraded()
  const rows = await db.sql`
    select v.version, v.text, v.actor_id, v.published_at = w.updated_at as "isSince", w.agent_word as word
    from instruction_versions v
    join workspaces w on w.id = v.workspace_id`
  assert.deepEqual([...rows], [{ version: 1, text: 'Be brief.', actor_id: null, isSince: true, word: 'Be brief.' }])
  assert.equal((await db.sql`select from instruction_versions where workspace_id = ${withConversations}`).length, 1)
})

async function addWorkspace({ sql }: Db): Promise<string> {
  const id = randomUUID()
  await sql`
    insert into workspaces (id, name, created_at, updated_at)
    values (${id}, 'Acme', now(), now())`
  return id
}

interface Connection {
  channel: string
  numberId: string
  state: string
  lastEvent?: Date | null
}

async function addConnection({ sql }: Db, workspaceId: string, of: Connection): Promise<string> {
  const { channel, numberId, state, lastEvent = null } = of
  const id = numberId === phoneId ? phoneId : randomUUID()
  await sql`
    insert into connections (
      workspace_id, id, channel, name, number_id, settings, state, state_changed_at, last_event_in_at, created_at, updated_at
    )
    values (${workspaceId}, ${id}, ${channel}, 'x', ${numberId}, '', ${state}, now(), ${lastEvent}, now(), now())`
  return id
}
