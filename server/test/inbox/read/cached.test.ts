import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conversationPath, inboxPath, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

// Pages are served from an in-process cache: each test reads before and after a change.

async function talk() {
  const w = await inboxWorld({ key: { scopes: ['inbox.read', 'inbox.write'] } })
  const conversation = await w.customerWrites('Hello!')
  await w.messages(conversation.id)
  return { w, id: conversation.id as string }
}

test('a tampered value is not served from the cache', async () => {
  const { w, id } = await talk()
  await w.db.sql`
    update messages set content = set_byte(content, 20, get_byte(content, 20) # 1) where conversation_id = ${id}`
  const answer = await w.call('GET', `${conversationPath(id)}/messages`)
  assert.equal(answer.status, 500)
})

test('the team and keys, masked or not, see their own form of one cached value', async () => {
  const { w, id } = await talk()
  const { value: masked } = await w.addKey({ scopes: ['inbox.read'], phoneVisibility: 'masked' })
  const member = await signedInMember(w)
  for (const _ of [1, 2]) {
    const ofMasked = await w.call('GET', `${inboxPath}/conversations`, { key: masked })
    assert.equal(ofMasked.body.conversations[0].contact.phone, '55819*****567')
    const ofTeam = await member.call('GET', `/inbox/conversations/${id}/timeline`)
    const [first] = ofTeam.body.items.filter((one: { type: string }) => one.type === 'message')
    assert.equal(first.message.text, 'Hello!')
    assert.equal((await w.conversations())[0].contact.phone, marina.phone)
    const [message] = (await w.call('GET', `${conversationPath(id)}/messages`, { key: masked })).body.messages
    assert.match(message.external_id, /^masked_/)
    assert.match((await w.messages(id))[0].external_id, /^wamid\./)
  }
})
