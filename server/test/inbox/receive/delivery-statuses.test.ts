import assert from 'node:assert/strict'
import { lockConversation } from '../../../src/inbox/conversation/queries.ts'
import { externalIndex } from '../../../src/inbox/conversation/sealed.ts'
import { advanceMessages } from '../../../src/inbox/receive/advance-send.ts'
import { takeEarlyReports } from '../../../src/inbox/receive/early-statuses.ts'
import { test, type WorldMaker } from '../../support/inbox/both-forms.ts'
import type { InboxWorld } from '../../support/inbox/inbox-world.ts'

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

test('a status that comes before its message is known by that id is kept and applied', async (inboxWorld) => {
  const { w, id, messageId, message } = await sending(inboxWorld)
  await w.tell(w.status('wamid.1', 'delivered'), w.status('wamid.1', 'sent'))
  assert.equal((await message()).status, 'pending')
  await settle(w, id, messageId)
  assert.equal((await message()).status, 'delivered')
  const rows = await w.db.sql`select status from parked_statuses where workspace_id = ${w.workspaceId}`
  assert.equal(rows.length, 0)
})

/** What the settling of a send does: the platform's id, then what was parked under it. */
async function settle(w: InboxWorld, id: string, messageId: string): Promise<void> {
  const keyring = await w.vault.keyring(w.workspaceId)
  const { workspaceId } = w
  const now = w.clock.now()
  await w.db.tx(async (tx) => {
    const conversation = await lockConversation(tx, keyring, { workspaceId, connectionIds: [] }, id)
    assert.ok(conversation)
    const rung = { status: 'sent', errorCode: null } as const
    const reports = [{ part: 1, rung, externalId: 'wamid.1', at: now }]
    await advanceMessages(tx, keyring, workspaceId, [{ conversation, messageId, reports }], now)
    const early = await takeEarlyReports(tx, workspaceId, messageId, [
      externalIndex(keyring, w.connectionId, 'wamid.1'),
    ])
    await advanceMessages(tx, keyring, workspaceId, [{ conversation, messageId, reports: early }], now)
  })
}

test('a status and the settling of its send at the same moment lose nothing', async (inboxWorld) => {
  const { w, id, messageId, message } = await sending(inboxWorld)
  await Promise.all([settle(w, id, messageId), w.tell(w.status('wamid.1', 'read'))])
  assert.equal((await message()).status, 'read')
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
