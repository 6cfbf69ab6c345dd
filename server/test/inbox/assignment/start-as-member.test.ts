import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorldWithTemplate, template } from '../../support/agents/agents-world.ts'
import { marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const phone = '+55 81 99876-5432'

const told = (w: AgentsWorld) => w.platform.sends.filter(({ connectionId }) => connectionId === w.connectionId).length

const start = (member: TestMember, body: object, key = 'start-1') =>
  member.call('POST', '/inbox/conversations', body, { 'idempotency-key': key })

test('a member starts a conversation with a template once, and is assigned', async () => {
  const w = await agentsWorldWithTemplate()
  const member = await signedInMember(w)
  const ask = { connection_id: w.connectionId, phone, template }
  const first = await start(member, ask)
  assert.equal(first.status, 202, JSON.stringify(first.body))
  assert.deepEqual([first.body.began, first.body.status], [true, 'sent'])
  const again = await start(member, ask)
  assert.deepEqual(
    [again.status, again.body.message_id, again.body.conversation_id, again.headers['idempotent-replayed']],
    [202, first.body.message_id, first.body.conversation_id, 'true'],
  )
  assert.equal(told(w), 1)
  const { body } = await member.call('GET', `/inbox/conversations/${first.body.conversation_id}`)
  const { owner, assignedTo } = body.conversation
  assert.deepEqual([owner, assignedTo], ['human', member.userId])
})

test('a member who starts an existing conversation continues it', async () => {
  const w = await agentsWorldWithTemplate()
  const member = await signedInMember(w)
  const { id } = await w.customerWrites('Hello')
  const { status, body } = await start(member, { connection_id: w.connectionId, phone: marina.phone, template })
  assert.deepEqual([status, body.began, body.conversation_id, told(w)], [202, false, id, 1])
})
