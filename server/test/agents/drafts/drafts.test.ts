import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewKeyInput } from '../../../src/auth/api-keys/change-key.ts'
import { reassignOverdue } from '../../../src/inbox/assignment/reassign-to-people.ts'
import { type AgentsWorld, addTemplate, agentsWorld, template } from '../../support/agents/agents-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const all = { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null }
const text = 'It left this morning.'

async function draftingWorld(approval: NewKeyInput['approval'] = all) {
  const w = await agentsWorld({ approval })
  return { ...w, member: await signedInMember(w) }
}

/** The customer writes, the agent reads it and proposes an answer. */
async function propose(w: AgentsWorld, answer: Record<string, unknown> = { text }) {
  const { id: conversation_id } = await w.customerWrites('Where is my order?')
  await w.callTool('wait_for_work', { wait: 0 })
  const drafted = await w.callTool('answer', { conversation_id, ...answer })
  assert.deepEqual([drafted.status, drafted.body.status], [200, 'drafted'], JSON.stringify(drafted.body))
  return { id: conversation_id, draftId: drafted.body.draft.id as string, drafted: drafted.body }
}

const decide = (member: TestMember, id: string, draftId: string, decision: 'approve' | 'reject', body: object = {}) =>
  member.call('POST', `/inbox/conversations/${id}/drafts/${draftId}/${decision}`, body)
const openDraft = async (member: TestMember, id: string) =>
  (await member.call('GET', `/inbox/conversations/${id}/draft`)).body.draft

test('an answer that needs approval is a draft: nothing is sent, and people see it', async () => {
  const w = await draftingWorld()
  const { id, draftId, drafted } = await propose(w)
  assert.deepEqual(
    [drafted.message_id, drafted.was_new, drafted.draft.status, drafted.draft.why],
    [null, true, 'open', 'always'],
  )
  assert.equal(w.sent().length, 0)
  const shown = await openDraft(w.member, id)
  assert.deepEqual([shown.id, shown.keyName, shown.text, shown.why], [draftId, 'Support agent', text, 'always'])
  const { body: waiting } = await w.member.call('GET', '/inbox/drafts')
  assert.deepEqual(
    waiting.drafts.map((one: { conversationId: string }) => one.conversationId),
    [id],
  )
  const again = await w.callTool('answer', { conversation_id: id, text })
  assert.deepEqual([again.body.draft.id, again.body.was_new], [draftId, false], 'a repeat proposes nothing new')
})

test('an approved draft is sent in the name of its agent, which keeps the conversation', async () => {
  const w = await draftingWorld()
  const { id, draftId } = await propose(w)
  const sent = await decide(w.member, id, draftId, 'approve')
  assert.deepEqual([sent.status, sent.body.status], [202, 'sent'], JSON.stringify(sent.body))
  assert.equal(w.sent().length, 1)
  const { body: read } = await w.callTool('read_conversation', { conversation_id: id })
  assert.deepEqual(
    [read.conversation.owner, read.messages.at(-1).from, read.messages.at(-1).text],
    ['you', 'you', text],
  )
  assert.equal(await openDraft(w.member, id), null)
  const again = await decide(w.member, id, draftId, 'approve')
  assert.deepEqual([again.status, again.body.message_id, w.sent().length], [202, sent.body.message_id, 1])
  const other = await decide(w.member, id, draftId, 'approve', { text: 'Something else' })
  assert.deepEqual([other.status, other.body.data.code, w.sent().length], [409, 'DRAFT_DECIDED', 1])
})

test('the agent learns the decision as work, with the text that was sent or the reason', async () => {
  const w = await draftingWorld()
  const { id, draftId } = await propose(w)
  const { body: before } = await w.callTool('wait_for_work', { wait: 0 })
  assert.deepEqual([before.work[0].draft.status, before.work[0].why], ['open', 'customer_wrote'])
  await decide(w.member, id, draftId, 'approve', { text: 'It left yesterday evening.' })
  const { body: after } = await w.callTool('wait_for_work', { wait: 0, cursor: before.next_cursor })
  const [{ why, draft }] = after.work
  assert.deepEqual([why, draft.status, draft.sent_text], ['draft_decided', 'edited', 'It left yesterday evening.'])
  w.clock.advance(1000)
  const next = await propose(w)
  const reason = 'Name the day.'
  assert.equal((await decide(w.member, next.id, next.draftId, 'reject', { reason })).status, 200)
  const { body: last } = await w.callTool('wait_for_work', { wait: 0, cursor: after.next_cursor })
  const rejected = last.work.find((one: { conversation: { id: string } }) => one.conversation.id === next.id)
  assert.deepEqual([rejected.draft.status, rejected.draft.reason, w.sent().length], ['rejected', reason, 1])
})

test('a draft is stale when the customer writes again or people take over, and is never sent then', async () => {
  const w = await draftingWorld()
  const written = await propose(w)
  w.clock.advance(1000)
  await w.customerWrites('Hello?')
  assert.equal(await openDraft(w.member, written.id), null)
  const late = await decide(w.member, written.id, written.draftId, 'approve')
  assert.deepEqual([late.status, late.body.data.code], [409, 'DRAFT_STALE'])
  await w.callTool('wait_for_work', { wait: 0 })
  const { body: renewed } = await w.callTool('answer', { conversation_id: written.id, text })
  await w.takeOver(written.id)
  const taken = await decide(w.member, written.id, renewed.draft.id, 'approve')
  assert.deepEqual([taken.status, taken.body.data.code, w.sent().length], [409, 'DRAFT_STALE', 0])
})

test('an agent that has not seen the newest message cannot draft an answer to it', async () => {
  const w = await draftingWorld()
  const { id: conversation_id } = await w.customerWrites('Where is my order?')
  await w.callTool('wait_for_work', { wait: 0 })
  w.clock.advance(1000)
  await w.customerWrites('And my invoice?')
  const refused = await w.callTool('answer', { conversation_id, text })
  assert.deepEqual([refused.status, refused.body.code], [409, 'CUSTOMER_WROTE_AGAIN'])
  assert.equal(refused.body.arrived_meanwhile.at(-1).customer_text, 'And my invoice?')
})

test('a newer draft replaces the open one, which can no longer be approved', async () => {
  const w = await draftingWorld()
  const { id, draftId } = await propose(w)
  const { body } = await w.callTool('answer', { conversation_id: id, text: 'It arrives on Friday.' })
  const refused = await decide(w.member, id, draftId, 'approve')
  assert.deepEqual([refused.status, refused.body.data.status], [409, 'replaced'])
  assert.equal((await openDraft(w.member, id)).id, body.draft.id)
})

test('20 approvals and edits at once become one message', async () => {
  const w = await draftingWorld()
  const { id, draftId } = await propose(w)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      decide(w.member, id, draftId, 'approve', n % 2 === 0 ? {} : { text: `Version ${n}` }),
    ),
  )
  assert.equal(w.sent().length, 1)
  const ids = new Set(answers.flatMap(({ status, body }) => (status === 202 ? body.message_id : [])))
  assert.equal(ids.size, 1)
  assert.ok(answers.every(({ status }) => status === 202 || status === 409))
})

test('the window is judged when the draft is approved', async () => {
  const w = await draftingWorld()
  const { id, draftId } = await propose(w)
  w.clock.advance(25 * 3_600_000)
  const closed = await decide(w.member, id, draftId, 'approve')
  assert.deepEqual([closed.status, closed.body.data.code, w.sent().length], [422, 'WINDOW_CLOSED', 0])
  assert.equal((await openDraft(w.member, id)).id, draftId, 'it can still be rejected')
})

test('no draft is sent while the inbox of the workspace is unavailable', async () => {
  const w = await draftingWorld()
  const { id, draftId } = await propose(w)
  await w.db.sql`update workspaces set inbox_available = false where id = ${w.workspaceId}`
  const refused = await decide(w.member, id, draftId, 'approve')
  assert.deepEqual([refused.status, refused.body.data.code, w.sent().length], [503, 'CHAT_INBOX_UNAVAILABLE', 0])
})

test('the text of choices can be changed, and that of a template cannot', async () => {
  const w = await draftingWorld()
  await addTemplate(w)
  const choices = { text: 'Which size?', buttons: [{ id: 's', title: 'Small' }] }
  const first = await propose(w, { choices })
  const shown = await openDraft(w.member, first.id)
  assert.deepEqual([shown.text, shown.options], ['Which size?', ['Small']])
  assert.equal((await decide(w.member, first.id, first.draftId, 'approve', { text: 'What size?' })).status, 202)
  const second = await propose(w, { template })
  const named = await openDraft(w.member, second.id)
  assert.deepEqual([named.text, named.template.parameters], [null, ['Ana']])
  const refused = await decide(w.member, second.id, second.draftId, 'approve', { text: 'Hi' })
  assert.deepEqual([refused.status, refused.body.data.code], [422, 'INVALID_MESSAGE'])
})

test('people see every value of a template, also the address of its file, before they approve it', async () => {
  const w = await draftingWorld()
  await addTemplate(w)
  await w.db.sql`
    update templates
    set header = 'image', body_only = false
    where connection_id = ${w.connectionId}`
  const url = 'https://shop.example/a.jpg'
  const { id, draftId } = await propose(w, { template: { ...template, header_url: url } })
  assert.deepEqual((await openDraft(w.member, id)).template.parameters, [url, 'Ana'])
  assert.equal((await decide(w.member, id, draftId, 'approve')).body.status, 'sent')
  const { message } = w.sent().at(-1)?.order ?? assert.fail()
  assert.ok(message.kind === 'template')
  assert.deepEqual(message.header, { kind: 'image', name: 'a.jpg', url })
})

test('a key whose answers need approval sends nothing in any other way', async () => {
  const w = await draftingWorld()
  await addTemplate(w)
  const { id } = await propose(w)
  const v1 = await w.call('POST', `/api/v1/inbox/conversations/${id}/messages`, {
    key: w.agent.value,
    headers: { 'idempotency-key': 'one' },
    body: { kind: 'text', text },
  })
  assert.deepEqual([v1.status, v1.body.data.code], [409, 'APPROVAL_NEEDED'])
  const handover = { conversation_id: id, summary: 'Done', closing: 'Bye' }
  const closing = await w.callTool('hand_over', handover)
  assert.deepEqual([closing.status, closing.body.code], [409, 'APPROVAL_NEEDED'])
  const started = await w.callTool('start_conversation', {
    ...{ connection_id: w.connectionId, phone: '+55 81 99123-4567', template },
  })
  assert.deepEqual([started.status, started.body.code, w.sent().length], [409, 'APPROVAL_NEEDED', 0])
})

test('rules of a key let the rest of its answers through', async () => {
  const w = await draftingWorld({ ...all, always: false, amountFrom: 100 })
  const { id: conversation_id } = await w.customerWrites('How much is it?')
  await w.callTool('wait_for_work', { wait: 0 })
  assert.equal((await w.callTool('answer', { conversation_id, text: 'It costs R$ 99,90.' })).body.status, 'sent')
  const drafted = await w.callTool('answer', { conversation_id, text: 'Two cost R$ 199,80.' })
  assert.deepEqual([drafted.body.status, drafted.body.draft.why], ['drafted', 'amount'])
})

test('a customer whose answer waits for people is not taken from the agent for that', async () => {
  const w = await draftingWorld()
  await w.db.sql`update workspaces set agent_watchdog_minutes = 5 where id = ${w.workspaceId}`
  const { id, draftId } = await propose(w)
  w.clock.advance(6 * 60_000)
  await reassignOverdue(w.db, w.keyStore, w.clock)
  assert.equal((await openDraft(w.member, id)).id, draftId)
  await decide(w.member, id, draftId, 'reject')
  await reassignOverdue(w.db, w.keyStore, w.clock)
  const { body: read } = await w.callTool('read_conversation', { conversation_id: id })
  assert.equal(read.conversation.owner, 'people')
})

test('proposals and decisions are events of the conversation, and the decision is in the timeline', async () => {
  const w = await draftingWorld()
  const { id, draftId } = await propose(w)
  assert.equal((await w.events(id)).at(-1)?.name, 'inbox.draft.proposed')
  await decide(w.member, id, draftId, 'approve', { text: 'It left today.' })
  const decided = (await w.events(id)).find(({ name }) => name === 'inbox.draft.decided')
  assert.ok(decided)
  const { outcome, text: sentText, actor, message_id } = decided.payload
  assert.deepEqual([outcome, sentText, actor], ['edited', 'It left today.', { type: 'user', id: w.member.userId }])
  const { body } = await w.member.call('GET', `/inbox/conversations/${id}/timeline`)
  const { activity } = body.items.find((one: { activity?: { kind: string } }) => one.activity?.kind === 'draft')
  assert.deepEqual([activity.fromName, activity.to], ['Support agent', 'edited'])
  const [row] = await w.db.sql<[{ distance: number; message_id: string }]>`
    select distance, message_id
    from drafts
    where workspace_id = ${w.workspaceId}`
  assert.deepEqual([row.distance > 0 && row.distance < 1, row.message_id], [true, message_id])
})
