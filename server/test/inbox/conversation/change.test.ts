import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAgent, addLabel, conversationPath, inboxWorld } from '../../support/inbox/inbox-world.ts'

async function begun() {
  const w = await inboxWorld()
  const me = await addAgent(w)
  const other = await addAgent(w)
  const conversation = await w.customerWrites('Hi')
  w.clock.advance(1000)
  return {
    w,
    me,
    other,
    id: conversation.id,
    conversation,
    patch: (body: object) => w.patch(conversation.id, body, me.value),
  }
}

test('owner human hands the conversation to people, the own id takes it back; each emits owner_changed', async () => {
  const { w, me, id, patch } = await begun()
  for (const owner of ['human', `agent:${me.id}`]) {
    const { status, body } = await patch({ owner })
    assert.deepEqual([status, body.conversation.owner], [200, owner])
    assert.equal(body.conversation.updated_at, w.clock.now().toISOString())
    const last = (await w.events(id)).at(-1)
    assert.deepEqual(last, {
      name: 'inbox.conversation.owner_changed',
      payload: { conversation_id: id, owner, actor: { type: 'agent', id: me.id }, at: w.clock.now().toISOString() },
    })
  }
})

test('setting the current owner changes nothing and emits no event', async () => {
  const { w, me, id, conversation, patch } = await begun()
  const before = await w.events(id)
  assert.deepEqual((await patch({ owner: `agent:${me.id}` })).body, { conversation })
  assert.deepEqual(await w.events(id), before)
})

test("another agent's id is 403 OWNER_FORBIDDEN and changes nothing of the request", async () => {
  const { w, other, id, conversation, patch } = await begun()
  const { status, body } = await patch({ owner: `agent:${other.id}`, status: 'closed', note: 'n' })
  assert.deepEqual([status, body.data], [403, { code: 'OWNER_FORBIDDEN' }])
  assert.deepEqual((await w.call('GET', conversationPath(id))).body.conversation, conversation)
})

test('every status can be set from any other', async () => {
  const { patch } = await begun()
  for (const status of ['pending', 'snoozed', 'resolved', 'closed', 'open']) {
    const { body } = await patch({ status })
    assert.deepEqual([body.conversation.status, body.conversation.snoozed_until], [status, null])
  }
})

test('labels are replaced; unknown ones are 400 INVALID_REQUEST, those of another workspace too', async () => {
  const { w, id, patch } = await begun()
  const [a, b] = [await addLabel(w, 'a'), await addLabel(w, 'b')]
  const foreign = await addLabel(await inboxWorld(), 'a')
  assert.deepEqual((await patch({ label_ids: [a, b, a] })).body.conversation.label_ids, [a, b])
  assert.deepEqual((await patch({ label_ids: [b.toUpperCase()] })).body.conversation.label_ids, [b])
  for (const label_ids of [[a, foreign], [w.workspaceId]]) {
    const { status, body } = await patch({ label_ids, status: 'closed' })
    assert.deepEqual([status, body.data.code], [400, 'INVALID_REQUEST'])
  }
  const now = (await w.call('GET', conversationPath(id))).body.conversation
  assert.deepEqual([now.label_ids, now.status], [[b], 'open'])
  assert.deepEqual((await patch({ label_ids: [] })).body.conversation.label_ids, [])
})

test('a note is stored encrypted with its actor and sends nothing', async () => {
  const { w, me, id, patch } = await begun()
  assert.equal((await patch({ note: 'Call back tomorrow' })).status, 200)
  const rows = await w.db.sql<{ text: Buffer; actor_type: string; actor_id: string }[]>`
    select text, actor_type, actor_id from conversation_notes where workspace_id = ${w.workspaceId}`
  assert.deepEqual(
    rows.map((row) => [row.actor_type, row.actor_id]),
    [['agent', me.id]],
  )
  assert.ok(!rows[0]?.text.toString('latin1').includes('tomorrow'))
  assert.equal((await w.messages(id)).length, 1)
  assert.ok(!w.platform.sends.some((send) => send.connectionId === w.connectionId))
})

const refused: [what: string, body: unknown][] = [
  ['no field', {}],
  ['an unknown field', { colour: 'red' }],
  ['an unknown status', { status: 'done' }],
  ['an invalid owner', { owner: 'robot' }],
  ['an empty note', { note: '' }],
  ['a note of 4,097 characters', { note: 'x'.repeat(4097) }],
  ['21 labels', { label_ids: Array.from({ length: 21 }, () => '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e') }],
  ['an invalid label id', { label_ids: ['x'] }],
  ['null', { status: null }],
  ['a list', []],
]

test('an invalid change is 400 INVALID_REQUEST, or 404 if there is no conversation', async () => {
  const { w, me, patch } = await begun()
  for (const [what, body] of refused) {
    const answer = await patch(body as object)
    assert.deepEqual([answer.status, answer.body.data.code], [400, 'INVALID_REQUEST'], what)
    const nowhere = await w.patch(w.workspaceId, body as object, me.value)
    assert.deepEqual([nowhere.status, nowhere.body.data.code], [404, 'NOT_FOUND'], what)
  }
})

test('a note of 4,096 characters and 20 labels are accepted', async () => {
  const { w, patch } = await begun()
  const labels = await Promise.all(Array.from({ length: 20 }, (_, n) => addLabel(w, `label ${n}`)))
  assert.equal((await patch({ note: 'x'.repeat(4096), label_ids: labels })).status, 200)
})

test('read sets unread_count to 0 and marks the newest message read on the platform; its failure changes nothing', async () => {
  const { w, me, id } = await begun()
  await w.customerWrites('Again', { externalId: 'wamid.newest' })
  w.platform.readsFail = true
  const { status, body } = await w.call('POST', `${conversationPath(id)}/read`, { key: me.value })
  w.platform.readsFail = false
  assert.deepEqual([status, body], [200, { id, unread_count: 0 }])
  assert.equal((await w.conversations())[0].unread_count, 0)
  const reads = w.platform.reads.filter((read) => read.connectionId === w.connectionId)
  assert.deepEqual(
    reads.map((read) => read.externalId),
    ['wamid.newest'],
  )
})

test('parallel changes of owner end in one of them, with one event for each real change', async () => {
  const { w, me, other, id } = await begun()
  const owners = [me, other, me, other, me, other]
  await Promise.all(owners.map((one) => w.patch(id, { owner: `agent:${one.id}` }, one.value)))
  const events = (await w.events(id)).filter((event) => event.name === 'inbox.conversation.owner_changed')
  const told = events.map((event) => event.payload.owner)
  for (const [n, owner] of told.entries()) assert.notEqual(owner, told[n - 1])
  assert.equal((await w.conversations())[0].owner, told.at(-1))
  const [row] = await w.db.sql<{ owner_epoch: number }[]>`
    select owner_epoch from conversations where workspace_id = ${w.workspaceId} and id = ${id}`
  assert.equal(row?.owner_epoch, told.length)
})
