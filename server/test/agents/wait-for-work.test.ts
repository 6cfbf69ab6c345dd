import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { removeOldEvents } from '../../src/events/retention.ts'
import { reassignOverdue } from '../../src/inbox/assignment/reassign-to-people.ts'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { statementsOf } from '../support/database.ts'
import { addAgent, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { clearStatistics, findBadPlans } from '../support/query-plans.ts'
import type { Answer } from '../support/world.ts'

const joao = { ...marina, phone: '5581998765432', name: 'João Prado' }
const customer = (n: number) => ({ ...marina, phone: `55819912${String(n).padStart(5, '0')}`, name: `Customer ${n}` })

/** Returns pending work, or work after a cursor. */
const now = async (w: AgentsWorld, cursor?: string | null, more: Record<string, unknown> = {}, key?: string) =>
  (await w.callTool('wait_for_work', { wait: 0, ...(cursor == null ? {} : { cursor }), ...more }, key)).body

const idsIn = ({ work }: Answer['body']): string[] =>
  work.map(({ conversation }: { conversation: { id: string } }) => conversation.id)
const textsIn = ({ work }: Answer['body']): string[][] =>
  work.map(({ messages }: { messages: { customer_text?: string; text?: string }[] }) =>
    messages.map(({ customer_text, text }) => customer_text ?? text ?? ''),
  )

const answer = async (w: AgentsWorld, id: string, text: string) => {
  w.clock.advance(1000)
  const { status } = await w.callTool('answer', { conversation_id: id, text })
  assert.equal(status, 200)
}

test('without a cursor, all pending conversations are returned, longest waiting first', async () => {
  const w = await agentsWorld()
  const first = await w.customerWrites('Where is my order?')
  w.clock.advance(1000)
  const second = await w.customerWrites('Do you ship to Recife?', { customer: joao })
  w.clock.advance(1000)
  await w.customerWrites('Hello?')
  const { body: lead } = await w.call('POST', '/api/v1/leads', {
    key: w.agent.value,
    body: { firstName: 'Marina', phone: marina.phone },
  })
  const found = await now(w)
  assert.deepEqual(idsIn(found), [first.id, second.id])
  assert.deepEqual(textsIn(found), [['Where is my order?', 'Hello?'], ['Do you ship to Recife?']])
  const [work] = found.work
  assert.equal(work.why, 'customer_wrote')
  assert.equal(work.conversation.owner, 'you')
  assert.equal(work.lead.id, lead.data.id)
  assert.equal(found.work[1].lead, null)
  assert.ok(Date.parse(work.conversation.window_expires_at) > w.clock.now().getTime())
})

test('a cursor returns later work once', async () => {
  const w = await agentsWorld()
  const first = await w.customerWrites('One')
  const begun = await now(w)
  assert.deepEqual(idsIn(begun), [first.id])
  assert.deepEqual(idsIn(await now(w, begun.next_cursor)), [])
  w.clock.advance(1000)
  await w.customerWrites('Two')
  const next = await now(w, begun.next_cursor)
  assert.deepEqual(textsIn(next), [['One', 'Two']])
  assert.deepEqual(idsIn(await now(w, next.next_cursor)), [])
})

test('messages before the answer of the agent are not treated as answered', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  const begun = await now(w)
  w.clock.advance(1000)
  await w.customerWrites('I want my money back')
  await answer(w, id, 'Good morning! How can I help?')
  const next = await now(w, begun.next_cursor)
  assert.deepEqual(textsIn(next), [['Hello', 'I want my money back', 'Good morning! How can I help?']])
  assert.ok(next.work[0].conversation.waiting_since !== null)
  assert.deepEqual(idsIn(await now(w)), [id], 'a new cursor returns it')
  await answer(w, id, 'It is on its way.')
  assert.deepEqual(idsIn(await now(w)), [], 'until it has answered that too')
})

test('a conversation handed over by a member is returned with handover and notes, even without a new message', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('I want my money back')
  const begun = await now(w)
  const member = await w.takeOver(id)
  const place = `/inbox/conversations/${id}`
  w.clock.advance(1000)
  const said = { kind: 'text', text: 'It is on its way.' }
  await member.call('POST', `${place}/messages`, said, { 'idempotency-key': 'a' })
  const taken = await now(w, begun.next_cursor)
  assert.deepEqual(idsIn(taken), [])
  w.clock.advance(1000)
  await member.call('POST', `${place}/notes`, { text: 'She is a regular.' })
  const note = { summary: 'The refund is on its way.', nextStep: 'Say that it takes five days.' }
  await w.handBack(member, id, note)
  for (const found of [await now(w, taken.next_cursor), await now(w)]) {
    assert.deepEqual(idsIn(found), [id])
    const [{ why, handover, notes }] = found.work
    assert.equal(why, 'given_to_you')
    assert.deepEqual(
      [handover.summary, handover.next_step, handover.by_name, handover.to],
      [note.summary, note.nextStep, 'Ana Lima', 'you'],
    )
    assert.equal(notes[0].text, 'She is a regular.')
  }
  await answer(w, id, 'It takes five days.')
  assert.deepEqual(idsIn(await now(w)), [], 'nor once the agent has gone on with it')
})

test('conversations of others, resolved ones, and those that the agent took itself are not work', async () => {
  const w = await agentsWorld()
  const other = await addAgent(w)
  const [theirs, peoples, resolved, taken] = await Promise.all(
    [0, 1, 2, 3].map((n) => w.customerWrites('Hello', { customer: customer(n) })),
  )
  await w.patch(theirs.id, { owner: `agent:${other.id}` }, other.value)
  await w.patch(peoples.id, { owner: 'human' }, w.agent.value)
  await w.patch(resolved.id, { status: 'resolved' }, w.agent.value)
  await w.patch(taken.id, { owner: `agent:${other.id}` }, other.value)
  w.clock.advance(1000)
  await answer(w, resolved.id, 'Done.')
  const begun = await now(w)
  assert.deepEqual(idsIn(begun), [])
  // Answered by the other agent, then taken.
  await w.callTool('answer', { conversation_id: taken.id, text: 'Hi!' }, other.value)
  w.clock.advance(1000)
  await w.patch(taken.id, { owner: `agent:${w.agent.id}` }, w.agent.value)
  const next = await now(w, begun.next_cursor)
  assert.deepEqual(idsIn(next), [])
  assert.deepEqual(idsIn(await now(w)), [])
  assert.deepEqual(idsIn(await now(w, null, {}, other.value)), [theirs.id])
})

test('a key with a connection list gets only work of those connections', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  await w.db.sql`
    update api_keys
    set connection_ids = ${[newId(w.clock.now())]}
    where workspace_id = ${w.workspaceId} and id = ${w.agent.id}`
  assert.deepEqual(idsIn(await now(w)), [])
  await w.db.sql`update api_keys set connection_ids = '{}' where workspace_id = ${w.workspaceId} and id = ${w.agent.id}`
  assert.deepEqual(idsIn(await now(w)), [id])
})

test('a key that masks phones gets masked numbers in notes and handovers too', async () => {
  const w = await agentsWorld({ phoneVisibility: 'masked' })
  const { id } = await w.customerWrites('Hello')
  const member = await w.takeOver(id)
  await member.call('POST', `/inbox/conversations/${id}/notes`, { text: `Call ${marina.phone} back` })
  await w.handBack(member, id, { summary: `Her number is ${marina.phone}.` })
  const found = await now(w)
  assert.deepEqual(idsIn(found), [id])
  assert.doesNotMatch(JSON.stringify(found), new RegExp(String(marina.phone)))
})

test('a long conversation includes its newest ten messages', async () => {
  const w = await agentsWorld()
  for (let n = 0; n < 12; n++) {
    await w.customerWrites(`Message ${n}`)
    w.clock.advance(1000)
  }
  const found = await now(w)
  assert.deepEqual(textsIn(found), [Array.from({ length: 10 }, (_, n) => `Message ${n + 2}`)])
  assert.equal(found.work[0].has_older_messages, true)
})

test('without work, the hint explains where reassigned conversations are', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  await admin.call('PATCH', '', { agentWatchdogMinutes: 5 })
  const { id } = await w.customerWrites('Hello')
  w.clock.advance(10 * 60_000)
  await reassignOverdue(w.db, w.keyStore, w.clock)
  const found = await now(w)
  assert.deepEqual(idsIn(found), [])
  assert.match(found.next[1], /answer_within_minutes.*list_conversations with owner people.*take_offered/)
  const { body } = await w.callTool('list_conversations', { owner: 'people', waiting: true })
  assert.deepEqual([body.conversations[0].id, body.conversations[0].may_take], [id, false])
  assert.doesNotMatch((await now(w, found.next_cursor)).next.join(' '), /answer_within_minutes/)
})

test('a cursor of another key or an invalid one is rejected with a hint', async () => {
  const w = await agentsWorld()
  const other = await addAgent(w)
  const { next_cursor: cursor } = await now(w)
  for (const [key, bad] of [
    [other.value, cursor],
    [w.agent.value, 'nothing'],
    [w.agent.value, `${cursor}x`],
  ]) {
    const { status, body } = await w.callTool('wait_for_work', { wait: 0, cursor: bad }, key)
    assert.equal(status, 400)
    assert.match(body.detail, /cursor .*omit it/)
  }
})

test('a cursor that is out of reach starts over', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  const begun = await now(w)
  assert.equal(begun.started_over, false)
  await w.customerWrites('Hello again')
  await now(w)
  w.clock.advance(31 * 24 * 3_600_000)
  await removeOldEvents(w.db, w.clock, async () => Number.POSITIVE_INFINITY)
  const next = await now(w, begun.next_cursor)
  assert.deepEqual([idsIn(next), next.started_over], [[id], true])
  assert.deepEqual(idsIn(await now(w, next.next_cursor)), [])
})

test('work queries use indexes with any statistics', async () => {
  const w = await agentsWorld()
  await w.customerWrites('Hello')
  const tables = ['events', 'conversations', 'messages', 'conversation_notes', 'conversation_handovers', 'leads']
  await clearStatistics(w.db, tables)
  const statements = await statementsOf(async () => {
    const begun = await now(w)
    await w.customerWrites('Hello again')
    assert.equal((await now(w, begun.next_cursor)).work.length, 1)
  })
  const ofWork = statements.filter(({ text }) => /picked as materialized/.test(text) || /from leads/.test(text))
  assert.deepEqual(await findBadPlans(w.db, ofWork, tables), [])
})
