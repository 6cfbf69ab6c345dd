import assert from 'node:assert/strict'
import { test, type WorldMaker } from '../../support/inbox/both-forms.ts'

async function sending(inboxWorld: WorldMaker, parts = 1) {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  const messageId = await w.pendingSend(id, parts)
  const events = async () => (await w.events(id)).slice(1)
  const message = async () => (await w.messages(id)).find((one) => one.id === messageId)
  return { w, id, messageId, events, message }
}

test('statuses climb and make one event for each real change, whatever order and however often they come', async (inboxWorld) => {
  const { w, messageId, events, message } = await sending(inboxWorld)
  const correlator = `${messageId}:1`
  const tell = (status: 'sent' | 'delivered' | 'read') => w.tell(w.status('wamid.1', status, { correlator }))
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

const firstRungs: [('delivered' | 'read')[], string[]][] = [
  [['delivered'], ['inbox.message.sent sent', 'inbox.message.status delivered']],
  [['read'], ['inbox.message.sent sent', 'inbox.message.status read']],
  [
    ['delivered', 'read'],
    ['inbox.message.sent sent', 'inbox.message.status delivered', 'inbox.message.status read'],
  ],
]
for (const [told, expected] of firstRungs) {
  test(`a rung above sent is told even when it comes first: ${told.join(', ')}`, async (inboxWorld) => {
    const { w, messageId, events } = await sending(inboxWorld)
    const correlator = `${messageId}:1`
    await w.tell(...told.map((status) => w.status('wamid.1', status, { correlator })))
    const seen = (await events()).map(({ name, payload }) => {
      return `${name} ${(payload.message as { status?: string })?.status ?? payload.status}`
    })
    assert.deepEqual(seen, expected)
  })
}

test('once the platform’s id is known, statuses without a correlator find their message', async (inboxWorld) => {
  const { w, messageId, message } = await sending(inboxWorld)
  await w.tell(w.status('wamid.1', 'sent', { correlator: `${messageId}:1` }))
  await w.tell(w.status('wamid.1', 'delivered'))
  assert.equal((await message()).status, 'delivered')
})

test('a failure after sent carries the code of the platform, and the connection hears of it', async (inboxWorld) => {
  const { w, messageId, message, events } = await sending(inboxWorld)
  const correlator = `${messageId}:1`
  await w.tell(w.status('wamid.1', 'sent', { correlator }))
  await w.tell(w.status('wamid.1', 'failed', { correlator, errorCode: '131047' }))
  assert.deepEqual([(await message()).status, (await message()).error_code], ['failed', '131047'])
  assert.deepEqual((await events()).at(-1)?.payload.error_code, '131047')
  assert.deepEqual(w.told.refused, ['131047'])
})

test('a message in parts has the lowest rung that all have reached', async (inboxWorld) => {
  const { w, messageId, message, events } = await sending(inboxWorld, 2)
  const tell = (part: number, status: 'sent' | 'delivered') =>
    w.tell(w.status(`wamid.${part}`, status, { correlator: `${messageId}:${part}` }))
  await tell(1, 'delivered')
  assert.equal((await message()).status, 'pending')
  await tell(2, 'sent')
  assert.deepEqual([(await message()).status, (await message()).external_id], ['sent', 'wamid.1'])
  await tell(2, 'delivered')
  assert.equal((await message()).status, 'delivered')
  assert.equal((await events()).length, 2)
})

test('statuses of nobody’s messages change nothing', async (inboxWorld) => {
  const { w, events, message } = await sending(inboxWorld)
  const stranger = await inboxWorld()
  const correlator = `${(await message()).id}:1`
  await stranger.tell(stranger.status('wamid.1', 'read', { correlator }))
  await w.tell(w.status('wamid.x', 'read', { correlator: 'something else' }))
  await w.tell(w.status('wamid.y', 'read', { correlator: `${w.workspaceId}:1` }))
  assert.equal((await message()).status, 'pending')
  assert.deepEqual(await events(), [])
})
