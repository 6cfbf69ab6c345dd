import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAgent, inboxWorld } from '../../support/inbox/inbox-world.ts'

test('a new conversation belongs to the oldest active key with inbox.write that allows the connection and answers new ones', async () => {
  const w = await inboxWorld()
  const sync = await addAgent(w, { name: 'CRM sync', answersNewConversations: false })
  const other = await w.addConnection()
  await addAgent(w, { connectionIds: [other] })
  await addAgent(w, { scopes: ['inbox.read'] })
  const expiring = await addAgent(w, { expiresAt: new Date(w.clock.now().getTime() + 1000) })
  w.clock.advance(2000)
  const oldest = await addAgent(w)
  w.clock.advance(1000)
  await addAgent(w)
  const conversation = await w.customerWrites('Hi')
  assert.equal(conversation.owner, `agent:${oldest.id}`)
  assert.notEqual(conversation.owner, `agent:${expiring.id}`)
  const [owned, received] = await w.events(conversation.id)
  assert.deepEqual(owned, {
    name: 'inbox.conversation.owner_changed',
    payload: {
      conversation_id: conversation.id,
      owner: `agent:${oldest.id}`,
      actor: { type: 'system', id: null },
      at: w.clock.now().toISOString(),
    },
  })
  assert.equal(received?.name, 'inbox.message.received')
  const taken = await w.patch(conversation.id, { owner: `agent:${sync.id}` }, sync.value)
  assert.equal(taken.body.conversation.owner, `agent:${sync.id}`, 'which it can own nevertheless')
})
