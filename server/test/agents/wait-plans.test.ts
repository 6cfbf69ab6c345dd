import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { waitingNode } from '../support/agents/waiting-node.ts'
import { statementsOf } from '../support/database.ts'
import { oncePerFile } from '../support/file-end.ts'
import { addAgent, marina } from '../support/inbox/inbox-world.ts'
import { badPlans, forgetStatistics } from '../support/plans.ts'

const tables = ['events', 'conversations', 'messages', 'conversation_notes', 'conversation_handovers', 'leads']

/** A workspace that has much, of which little is the agent's. */
const large = oncePerFile(async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello', { customer: marina })
  await w.db.sql`
    insert into conversations (
      workspace_id, id, connection_id, channel, contact, index_version, owner_since, status, last_message_at,
      unanswered_since, created_at, updated_at
    )
    select workspace_id, gen_random_uuid(), connection_id, channel, contact, index_version, owner_since, status,
      last_message_at, unanswered_since + make_interval(secs => n), created_at, updated_at
    from conversations
    cross join generate_series(1, 2000) as n
    where workspace_id = ${w.workspaceId}
      and id = ${id}`
  await w.db.sql`
    insert into messages (
      workspace_id, id, conversation_id, connection_id, direction, kind, origin, content, status, occurred_at, created_at
    )
    select m.workspace_id, gen_random_uuid(), c.id, m.connection_id, m.direction, m.kind, m.origin, m.content, m.status,
      m.occurred_at, m.created_at
    from messages m
    join conversations c on c.workspace_id = m.workspace_id and c.id <> m.conversation_id
    where m.workspace_id = ${w.workspaceId}
      and m.conversation_id = ${id}`
  await w.db.sql`
    insert into events (workspace_id, id, name, subject_id, connection_id, payload, occurred_at, position)
    select c.workspace_id, gen_random_uuid(), 'inbox.message.sent', c.id, c.connection_id, c.contact, c.created_at,
      1000 + row_number() over ()
    from conversations c
    where c.workspace_id = ${w.workspaceId}
      and c.id <> ${id}`
  await w.db.sql`
    insert into event_feeds (workspace_id, last_position)
    values (${w.workspaceId}, 3000)
    on conflict (workspace_id) do update set last_position = 3000`
  await w.db.sql`
    insert into conversation_notes (workspace_id, id, conversation_id, text, actor_type, created_at)
    select c.workspace_id, gen_random_uuid(), c.id, c.contact, 'system', c.created_at
    from conversations c
    where c.workspace_id = ${w.workspaceId}
      and c.id <> ${id}`
  await w.db.sql`
    insert into conversation_handovers (
      workspace_id, id, conversation_id, to_type, urgency, words, actor_type, actor_id, created_at
    )
    select c.workspace_id, gen_random_uuid(), c.id, 'people', 'normal', c.contact, 'agent', c.id, c.created_at
    from conversations c
    where c.workspace_id = ${w.workspaceId}
      and c.id <> ${id}`
  await w.db.sql`
    insert into leads (
      workspace_id, id, unique_code, status, priority, source, person, phone_index, index_version, created_at, updated_at
    )
    select c.workspace_id, gen_random_uuid(), c.id, 'new', 'medium', 'other', c.contact, sha256(uuid_send(c.id)), 1,
      c.created_at, c.created_at
    from conversations c
    where c.workspace_id = ${w.workspaceId}`
  await w.db.sql.unsafe(`analyze ${tables.join(', ')}`)
  return w
})

const statementsOfWork = async (w: AgentsWorld) => {
  const statements = await statementsOf(async () => {
    const { body } = await w.ask('wait_for_work', { wait: 0 })
    assert.equal(body.work.length, 1)
    await w.customerWrites('Hello again')
    await w.ask('wait_for_work', { wait: 0, cursor: body.next_cursor })
  })
  return statements.filter(({ text }) => /picked as materialized/.test(text) || /from leads/.test(text))
}

test('whose anything is, is found by indexes', async () => {
  const w = await large()
  const node = await waitingNode(w)
  const other = await addAgent(w, { answersNewConversations: false })
  await node.wait({ key: other.value })
  const { answer } = await node.wait({ cursor: (await w.ask('wait_for_work', { wait: 0 })).body.next_cursor })
  await w.customerWrites('Hello again')
  await answer
  assert.equal(node.owners.length > 0, true)
  assert.deepEqual(await badPlans(w.db, node.owners, ['events', 'conversations']), [])
})

test('work is found by indexes, whether or not the database has counted its tables', async () => {
  const w = await large()
  assert.deepEqual(await badPlans(w.db, await statementsOfWork(w), tables), [])
  await forgetStatistics(w.db, tables)
  assert.deepEqual(await badPlans(w.db, await statementsOfWork(w), tables), [])
})
