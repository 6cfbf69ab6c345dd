import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { pictureFile, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'
import { addUpload } from '../../support/inbox/uploads.ts'
import { testTeamToken } from '../../support/world.ts'

async function outcomeOf(w: SessionWorld, conversationId: string) {
  const { status, error_code } = (await w.messages(conversationId)).at(-1)
  return `${status} ${error_code}`
}

test('a send whose process died before it asked the session’s holder was not sent, and one that was merely slow sends nothing', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  const { halted, goOn } = w.haltBeforeAsking()
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

test('a send that nobody has claimed is taken back when its process has died, and no holder sends it later', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
  await w.loseLine(socket)
  const posting = w.post(conversationId)
  await w.sendWaits()
  assert.equal(await w.settleAsDead(), 1)
  assert.equal(await outcomeOf(w, conversationId), 'failed not_sent')
  assert.equal((await posting).body.status, 'failed')
  await w.reconnect()
  assert.equal(w.network.delivered.length, 0)
})

test('a send that was claimed may have left: its outcome is open until the network tells it', async () => {
  const w = await sessionWorld()
  const { socket, conversationId } = await w.talk()
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
  test(`a file’s send whose process died while its file was ${state} was not sent, and whoever has the file sends nothing with it`, async () => {
    const w = await sessionWorld({ openFile: async () => pictureFile })
    const { socket, conversationId } = await w.talk()
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    const { promise: claimed, resolve: claim } = Promise.withResolvers<void>()
    w.network.beforeUpload = () => {
      claim()
      return goesOn
    }
    if (state === 'waiting') await w.loseLine(socket)
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

test('what a session has to say of a send counts for ten minutes only, as it forgets what it was asked', async () => {
  const w = await sessionWorld()
  const { conversationId } = await w.talk()
  const { halted, goOn } = w.haltBeforeAsking()
  const posting = w.post(conversationId)
  await halted
  w.clock.advance(10 * 60_000)
  assert.equal(await w.settleAsDead(), 1)
  assert.equal(await outcomeOf(w, conversationId), 'failed outcome_unknown')
  goOn()
  await posting
})
