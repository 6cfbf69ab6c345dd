import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { SessionConnection } from '../../../src/channels/connection/connection.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { uploadToNetwork } from '../../../src/channels/unofficial/media.ts'
import { sessionConnector } from '../../../src/channels/unofficial/send/connector.ts'
import { deleteOldSends } from '../../../src/channels/unofficial/send/sends.ts'
import {
  customerPhone,
  pictureFile as file,
  pictureFile,
  type SessionWorld,
  sessionWorld,
} from '../../support/channels/session-world.ts'
import { conversationPath } from '../../support/inbox/inbox-world.ts'
import { addUpload } from '../../support/inbox/uploads.ts'
import { signedInMember } from '../../support/member.ts'
import { type Answer, testTeamToken } from '../../support/world.ts'

async function assertNotDelivered(w: SessionWorld, id: string, answer: Answer, reason: string): Promise<void> {
  assert.deepEqual([answer.status, answer.body.data.code], [502, 'DELIVERY_FAILED'])
  assert.equal((await w.messages(id)).at(-1).error_code, reason)
}

test('sent texts are stored for three days, for phones that request them again', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  await w.post(conversationId, 'Good morning')
  const { id } = await w.network.arrived(1)
  const { loadSentText } = socket.options
  assert.equal(await loadSentText('3EB0AAAAAAAAAAAAAAAAAA'), null)
  for (const [ms, known] of [
    [3 * 86_400_000, 'Good morning'],
    [1, null],
  ] as const) {
    w.clock.advance(ms)
    await deleteOldSends(w.db, w.clock.now())
    assert.equal(await loadSentText(id), known)
  }
})

test('a message that the socket rejects was certainly not sent', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  w.network.beforeSend = () => Promise.reject(new Error('no session keys'))
  await assertNotDelivered(w, conversationId, await w.post(conversationId), 'not_sent')
})

test('without a holder nothing is sent now or later', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  await w.expireLease()
  await assertNotDelivered(w, conversationId, await w.post(conversationId), 'session_not_held')
  await w.reconnect()
  assert.equal(w.network.delivered.length, 0)
})

test('an unclaimed send is cancelled in time and never sent', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  await w.loseConnection(socket)
  const posting = w.post(conversationId)
  await w.sendWaits()
  await w.endDeadlines()
  await assertNotDelivered(w, conversationId, await posting, 'session_not_open')
  await w.reconnect()
  assert.equal(w.network.delivered.length, 0)
})

test('a holder that dies during a send leaves it unknown: it is never sent twice', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  w.network.acknowledges = false
  const posting = w.post(conversationId)
  const { id } = await w.network.arrived(1)
  await w.expireLease()
  await assertNotDelivered(w, conversationId, await posting, 'outcome_unknown')
  const other = await w.addManager()
  const next = await w.reconnect(other.manager)
  // Otherwise it would wait for the acknowledgement when stopped.
  await w.manager.renew()
  assert.equal(w.network.delivered.length, 1)
  await next.status(id, 2)
  assert.equal((await w.messages(conversationId)).at(-1).status, 'sent')
})

test('a send requires a confirmed risk and an open session', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  await w.db.sql`update connections set acknowledged_at = null where id = ${w.connectionId}`
  const unconfirmed = await w.post(conversationId)
  assert.deepEqual([unconfirmed.status, unconfirmed.body.data.code], [409, 'ACKNOWLEDGEMENT_REQUIRED'])
  await w.acknowledge()
  await socket.close(428)
  await w.work()
  const closed = await w.post(conversationId)
  assert.deepEqual([closed.status, closed.body.data.code], [409, 'CONNECTION_UNAVAILABLE'])
})

test("the customer's message is marked as read", async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  const read = new Promise((resolve) => {
    w.network.onRead = resolve
  })
  await w.call('POST', `${conversationPath(conversationId)}/read`)
  assert.equal(await read, `${customerPhone}@s.whatsapp.net`)
})

test('messages with one button are refused, saying what to send instead', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  const member = await signedInMember(w)
  const body = { kind: 'location_request', location_request: { text: 'Where to?' } }
  const path = `/inbox/conversations/${conversationId}/messages`
  const answer = await member.call('POST', path, body, { 'idempotency-key': 'one' })
  assert.deepEqual([answer.status, answer.body.data.code], [422, 'UNSUPPORTED_KIND'])
  assert.match(answer.body.statusMessage, /ask for the location in a text/)
  assert.deepEqual(w.network.delivered, [])
})

test('a person who types is shown as composing, and as paused when they stop, once each', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  const member = await signedInMember(w)
  await member.call('POST', `/inbox/conversations/${conversationId}/take-over`)
  const calls: string[] = []
  const say = async (state: string) => {
    const body = { state, ...(state === 'typing' && { toCustomer: true }) }
    await member.call('POST', `/inbox/conversations/${conversationId}/presence`, body)
  }
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      w.network.onRead = (call) => void (calls.push(call) === count && resolve())
    })
  const composing = reached(2)
  await say('typing')
  await composing
  const paused = reached(3)
  for (const state of ['viewing', 'typing', 'viewing']) await say(state)
  await paused
  await w.work()
  const jid = `${customerPhone}@s.whatsapp.net`
  assert.deepEqual(calls, [jid, `${jid} composing`, `${jid} paused`])
})

test('a send that reaches the database late gets no extra time, because a takeover may be waiting for it', async () => {
  const w = await sessionWorld()
  await w.startConversation()
  const { db, keyStore, clock, workspaceId } = w
  const connection = await findConnection(db.sql, await keyStore.keyring(workspaceId), workspaceId, w.connectionId)
  assert.ok(connection?.channel === 'unofficial')
  const keyring: typeof keyStore.keyring = async (scopeId) => {
    clock.advance(3_000)
    return keyStore.keyring(scopeId)
  }
  const connector = sessionConnector({ db, keyStore: { ...keyStore, keyring }, clock, ackMs: 100, pollMs: 20 })
  const result = await connector.send(connection, {
    recipient: { phone: customerPhone, userId: null },
    message: { kind: 'text', text: 'Too late', previewUrl: false },
    correlator: 'slow',
    deadline: new Date(clock.now().getTime() + 3_000),
  })
  await w.work()
  assert.deepEqual(result, { outcome: 'unreachable', errorCode: 'session_not_open' })
  assert.deepEqual(w.network.delivered, [])
})

async function outcomeOf(w: SessionWorld, conversationId: string) {
  const { status, error_code } = (await w.messages(conversationId)).at(-1)
  return `${status} ${error_code}`
}

test('a send whose process died before enqueueing was not sent, and a slow process sends nothing', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  const { paused: halted, resume: goOn } = w.pauseSends()
  const posting = w.post(conversationId)
  await halted
  assert.equal(await w.settleAsDead(), 1)
  assert.equal(await outcomeOf(w, conversationId), 'failed not_sent')
  goOn()
  const { status, body } = await posting
  assert.deepEqual([status, body.status], [202, 'failed'])
  await w.work()
  assert.equal(w.network.delivered.length, 0)
  assert.equal(await outcomeOf(w, conversationId), 'failed not_sent')
})

test('an unclaimed send of a dead process is cancelled, and no holder sends it later', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  await w.loseConnection(socket)
  const posting = w.post(conversationId)
  await w.sendWaits()
  assert.equal(await w.settleAsDead(), 1)
  assert.equal(await outcomeOf(w, conversationId), 'failed not_sent')
  assert.equal((await posting).body.status, 'failed')
  await w.reconnect()
  assert.equal(w.network.delivered.length, 0)
})

test('a claimed send has an unknown outcome until its status arrives', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.startConversation()
  w.network.acknowledges = false
  const posting = w.post(conversationId)
  const { id } = await w.network.arrived(1)
  assert.equal(await w.settleAsDead(), 0)
  assert.equal(await outcomeOf(w, conversationId), 'pending null')
  await socket.status(id, 2)
  assert.equal(await outcomeOf(w, conversationId), 'sent null')
  assert.equal((await posting).body.status, 'sent')
})

async function postFile(w: SessionWorld, conversationId: string) {
  const { workspaceId, media } = w
  await media.writeMark('a mark')
  const id = await addUpload(
    w,
    { workspaceId, conversationId },
    {
      ...{ kind: 'image', type: 'image/png', bytes: Buffer.from('a picture') },
    },
  )
  return w.call('POST', `/api/team/v1/workspaces/${workspaceId}/inbox/conversations/${conversationId}/messages`, {
    body: { kind: 'media', upload_id: id },
    headers: { 'idempotency-key': randomUUID() },
    key: testTeamToken,
  })
}

for (const state of ['waiting', 'claimed'] as const) {
  test(`a file send whose process died while its file was ${state} was not sent, and the upload sends nothing`, async () => {
    const w = await sessionWorld({ openFile: async () => pictureFile })
    const { socket, conversationId } = await w.startConversation()
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    const { promise: claimed, resolve: claim } = Promise.withResolvers<void>()
    w.network.beforeUpload = () => {
      claim()
      return goesOn
    }
    if (state === 'waiting') await w.loseConnection(socket)
    const posting = postFile(w, conversationId)
    await (state === 'waiting' ? w.sendWaits('file') : claimed)
    assert.equal(await w.settleAsDead(), 1)
    assert.equal(await outcomeOf(w, conversationId), 'failed not_sent')
    goOn()
    if (state === 'waiting') await w.reconnect()
    const { status, body } = await posting
    assert.deepEqual([status, body.status], [202, 'failed'])
    await w.work()
    assert.equal(w.network.delivered.length, 0)
    assert.equal(await outcomeOf(w, conversationId), 'failed not_sent')
  })
}

test("a session's answer about a send is valid for ten minutes only, because sends are deleted", async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.startConversation()
  const { paused: halted, resume: goOn } = w.pauseSends()
  const posting = w.post(conversationId)
  await halted
  w.clock.advance(10 * 60_000)
  assert.equal(await w.settleAsDead(), 1)
  assert.equal(await outcomeOf(w, conversationId), 'failed outcome_unknown')
  goOn()
  await posting
})

const isThere = { openFile: async (_: string, id: string) => (id === file.id ? file : null) }
const { signal } = new AbortController()

const give = (w: SessionWorld, id = file.id, until = signal) =>
  uploadToNetwork(
    { ...w, pollMs: 20 },
    { workspaceId: w.workspaceId, id: w.connectionId } as SessionConnection,
    { id },
    until,
  )
const left = (w: SessionWorld) => w.db.sql`select state from session_sends where workspace_id = ${w.workspaceId}`

test('the holder uploads a file to the network, and no row remains', async () => {
  const w = await sessionWorld(isThere)
  await w.startConversation()
  const given = await give(w)
  assert.ok(given.outcome === 'taken')
  assert.equal(given.platformId, 'given a-row')
  assert.ok(given.livesUntil > w.clock.now())
  assert.equal((await left(w)).length, 0)
})

test('a session without a holder uploads nothing', async () => {
  const w = await sessionWorld(isThere)
  assert.deepEqual(await give(w), { outcome: 'failed', errorCode: 'session_not_held', isDown: false })
  assert.equal((await left(w)).length, 0)
})

test('a missing file is rejected', async () => {
  const w = await sessionWorld(isThere)
  await w.startConversation()
  assert.deepEqual(await give(w, 'another'), { outcome: 'refused', errorCode: 'file_missing' })
})

test('a failed upload can be retried', async () => {
  const w = await sessionWorld(isThere)
  await w.startConversation()
  w.network.beforeUpload = () => Promise.reject(new Error('the network is away'))
  assert.deepEqual(await give(w), { outcome: 'failed', errorCode: 'not_sent', isDown: false })
  w.network.beforeUpload = async () => {}
  assert.equal((await give(w)).outcome, 'taken')
})

for (const [what, end] of [
  ['its holder is lost', (w: SessionWorld) => w.expireLease()],
  ['nobody waits for it any more', async (_: SessionWorld, over: AbortController) => over.abort()],
] as const) {
  test(`a file being uploaded when ${what} counts as not uploaded`, async () => {
    const w = await sessionWorld(isThere)
    await w.startConversation()
    const { promise: isUploading, resolve: uploading } = Promise.withResolvers<void>()
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    w.network.beforeUpload = () => {
      uploading()
      return goesOn
    }
    const over = new AbortController()
    const given = give(w, file.id, over.signal)
    await isUploading
    await end(w, over)
    assert.deepEqual(await given, { outcome: 'failed', errorCode: 'session_lost', isDown: false })
    goOn()
  })
}
