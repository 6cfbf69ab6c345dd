import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OwnerMismatchError } from '../../../client/src/errors.ts'
import { clientWorld } from '../support/client/client-world.ts'

test('a conversation is read, answered, noted and given to people', async () => {
  const { parley, agent, customerWrites, platform } = await clientWorld()
  const { id } = await customerWrites('Do you ship to Recife?')
  const sent = platform.sends.length
  const found = await parley.inbox.conversation(id)
  assert.deepEqual([found.owner, found.unread_count], [`agent:${agent.id}`, 1])
  assert.equal((await parley.inbox.send(id, 'We do.')).status, 'sent')
  assert.equal(platform.sends.length, sent + 1)
  await parley.inbox.markRead(id)
  const { owner, status } = await parley.inbox.update(id, { owner: 'human', status: 'pending', note: 'Wants 20.' })
  assert.deepEqual([owner, status], ['human', 'pending'])
  await assert.rejects(parley.inbox.send(id, 'More?'), OwnerMismatchError)
})

test('conversations and messages go on over all pages, the newest first', async () => {
  const { parley, clock, customerWrites } = await clientWorld()
  for (let i = 0; i < 7; i++) {
    clock.advance(1000)
    const phone = `55119000000${10 + i}`
    await customerWrites(`From ${i}`, { customer: { userId: null, parentUserId: null, phone, name: null } })
  }
  const phones: (string | null)[] = []
  for await (const { contact } of parley.inbox.conversations({ limit: 3 })) phones.push(contact.phone)
  assert.deepEqual(
    phones,
    [16, 15, 14, 13, 12, 11, 10].map((i) => `55119000000${i}`),
  )

  let id = ''
  for (let i = 0; i < 5; i++) {
    clock.advance(1000)
    id = (await customerWrites(`Message ${i}`)).id
  }
  const texts: string[] = []
  for await (const { text } of parley.inbox.messages(id, { limit: 2 })) texts.push(text)
  assert.deepEqual(
    texts,
    [4, 3, 2, 1, 0].map((i) => `Message ${i}`),
  )
})
