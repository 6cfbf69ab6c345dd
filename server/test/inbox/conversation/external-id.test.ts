import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMessageId, sealExternalId } from '../../../src/inbox/conversation/message.ts'
import { findNewestInbound } from '../../../src/inbox/conversation/message-queries.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'

const w = await inboxWorld()
const another = { userId: null, parentUserId: null, phone: '5581991234568', name: 'Bia' }

const newestOf = async (conversationId: string) => {
  const row = await findNewestInbound(w.db.sql, w.workspaceId, conversationId)
  return row === undefined ? null : openMessageId(await w.vault.keyring(w.workspaceId), row)
}

test("the platform's id of what comes in is sealed together with its text, not once more", async () => {
  const { id } = await w.customerWrites('Hello!', { externalId: 'wamid.together' })
  const [row] = await w.db.sql`select external_id from messages where conversation_id = ${id}`
  assert.equal(row?.external_id, null)
  assert.equal((await w.messages(id))[0].external_id, 'wamid.together')
  assert.equal(await newestOf(id), 'wamid.together')
})

test("a message whose platform's id is a value of its own shows it", async () => {
  const { id } = await w.customerWrites('Hello!', { customer: another, externalId: 'wamid.x' })
  const [message] = await w.messages(id)
  const sealed = sealExternalId(await w.vault.keyring(w.workspaceId), message.id, 'wamid.apart')
  await w.db
    .sql`update messages set external_id = ${sealed} where workspace_id = ${w.workspaceId} and id = ${message.id}`
  assert.equal((await w.messages(id))[0].external_id, 'wamid.apart')
  assert.equal(await newestOf(id), 'wamid.apart')
})
