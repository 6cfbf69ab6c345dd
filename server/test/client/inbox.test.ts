import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyRejectedError, OwnerMismatchError, ParleyError } from '../../../client/src/errors.ts'
import { Parley } from '../../../client/src/parley.ts'
import { clientWorld, network, serviceUrl } from '../support/client/client-world.ts'
import { filesWorld, png } from '../support/inbox/files-world.ts'

test('a conversation is read, answered, noted and handed to people', async () => {
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

test('conversations and messages are listed across pages, newest first', async () => {
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

test('a file of a message is downloaded with the key, which is sent to no other address', async () => {
  const w = await filesWorld()
  const { value: apiKey } = await w.addKey({ scopes: ['inbox.read'] })
  const { conversationId } = await w.here(png)
  const { fetch, asked } = network('answerIsLost')
  const baseUrl = await serviceUrl()
  const { agents } = new Parley({ baseUrl, apiKey, fetch, pause: async () => {} })
  const { messages } = await agents.readConversation({ conversation_id: conversationId })
  const { path } = messages.at(-1)?.file ?? {}
  const blob = await agents.readFile({ path })
  assert.equal(blob.type, 'image/png')
  assert.deepEqual(Buffer.from(await blob.arrayBuffer()), png)

  const { value: ofLeads } = await w.addKey({ scopes: ['leads.read'] })
  await assert.rejects(new Parley({ baseUrl, apiKey: ofLeads }).agents.readFile({ path }), KeyRejectedError)
  const before = asked.length
  for (const elsewhere of [
    undefined,
    'https://example.com/api/v2/x',
    '//example.com/api/v2/x',
    '/api/v2/../x',
    '/api/v1/leads',
  ])
    await assert.rejects(agents.readFile({ path: elsewhere }), ParleyError)
  assert.equal(asked.length, before)
})

test('a file is uploaded as raw bytes for an answer', async () => {
  const w = await filesWorld()
  const { value: apiKey } = await w.addKey({ scopes: ['inbox.read', 'inbox.write'], answersNewConversations: true })
  const { id } = await w.customerWrites('Show me')
  const { fetch, asked } = network('reaches')
  const { agents } = new Parley({ baseUrl: await serviceUrl(), apiKey, fetch })
  const brought = await agents.uploadBlob(new Blob([new Uint8Array(png)]), {
    conversation_id: id,
    kind: 'image',
    name: 'a b.png',
  })
  assert.deepEqual([brought.kind, brought.type, brought.bytes], ['image', 'image/png', png.length])
  const inBase64 = { conversation_id: id, kind: 'image', base64: png.toString('base64') } as const
  assert.notEqual((await agents.uploadFile(inBase64)).upload_id, brought.upload_id)
  assert.equal(asked.length, 2)
  const [row] = await w.db.sql`
    select created_by_type, size_bytes::integer as bytes from media where id = ${brought.upload_id}`
  assert.deepEqual([row?.created_by_type, row?.bytes], ['agent', png.length])
})
