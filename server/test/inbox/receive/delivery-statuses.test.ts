import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'

async function sending(parts = 1) {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  const messageId = await w.pendingSend(id, parts)
  const events = async () => (await w.events(id)).slice(1)
  const message = async () => (await w.messages(id)).find((one) => one.id === messageId)
  return { w, id, messageId, events, message }
}

test('statuses advance with one event per real change, in any order and with repeats', async () => {
  const { w, messageId, events, message } = await sending()
  const correlator = `${messageId}:1`
  const tell = (status: 'sent' | 'delivered' | 'read') => w.deliver(w.status('wamid.1', status, { correlator }))
  for (const status of ['sent', 'sent', 'read', 'delivered', 'sent', 'read'] as const) await tell(status)
  assert.deepEqual([(await message()).status, (await message()).external_id], ['read', 'wamid.1'])
  const told = await events()
  assert.deepEqual(
    told.map((event) => [event.name, (event.payload.message as { status?: string })?.status ?? event.payload.status]),
    [
      ['inbox.message.sent', 'sent'],
      ['inbox.message.status', 'read'],
    ],
  )
  assert.deepEqual(told[1]?.payload, {
    conversation_id: (await w.conversations())[0].id,
    message_id: messageId,
    status: 'read',
    error_code: null,
    at: w.clock.now().toISOString(),
  })
})

test('a message in parts has the lowest status of all parts', async () => {
  const { w, messageId, message, events } = await sending(2)
  const tell = (part: number, status: 'sent' | 'delivered') =>
    w.deliver(w.status(`wamid.${part}`, status, { correlator: `${messageId}:${part}` }))
  await tell(1, 'delivered')
  assert.equal((await message()).status, 'pending')
  await tell(2, 'sent')
  assert.deepEqual([(await message()).status, (await message()).external_id], ['sent', 'wamid.1'])
  await tell(2, 'delivered')
  assert.equal((await message()).status, 'delivered')
  assert.equal((await events()).length, 2)
})

test('statuses of unknown messages change nothing', async () => {
  const { w, events, message } = await sending()
  const stranger = await inboxWorld()
  const correlator = `${(await message()).id}:1`
  await stranger.deliver(stranger.status('wamid.1', 'read', { correlator }))
  await w.deliver(w.status('wamid.x', 'read', { correlator: 'something else' }))
  await w.deliver(w.status('wamid.y', 'read', { correlator: `${w.workspaceId}:1` }))
  assert.equal((await message()).status, 'pending')
  assert.deepEqual(await events(), [])
})
