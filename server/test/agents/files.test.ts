import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesWorld, png } from '../support/inbox/files-world.ts'

test('a file of a conversation is told of with where its bytes are, for keys that see the conversation', async () => {
  const w = await filesWorld()
  const { value: key } = await w.addKey({ scopes: ['inbox.read'] })
  const { conversationId } = await w.here(png, { name: 'receipt.png' })
  const read = await w.call('GET', `/api/v2/conversations/${conversationId}`, { key })
  const { file } = read.body.messages.at(-1)
  assert.deepEqual(
    [file.kind, file.state, file.type, file.customer_file_name],
    ['image', 'here', 'image/png', 'receipt.png'],
  )
  const reply = await w.app.inject({ url: file.path, headers: { authorization: `Bearer ${key}` } })
  assert.equal(reply.statusCode, 200)
  assert.deepEqual(reply.rawPayload, png)

  const other = await w.addConnection()
  const { value: elsewhere } = await w.addKey({ scopes: ['inbox.read'], connectionIds: [other] })
  assert.equal((await w.call('GET', file.path, { key: elsewhere })).status, 404)
  const { value: ofLeads } = await w.addKey({ scopes: ['leads.read'] })
  assert.equal((await w.call('GET', file.path, { key: ofLeads })).status, 401)
})

test('a file that has not come is told of without a place', async () => {
  const w = await filesWorld()
  const { value: key } = await w.addKey({ scopes: ['inbox.read'] })
  const { conversationId } = await w.coming()
  const { body } = await w.call('GET', `/api/v2/conversations/${conversationId}`, { key })
  const { file } = body.messages.at(-1)
  assert.deepEqual([file.state, file.path], ['coming', undefined])
})
