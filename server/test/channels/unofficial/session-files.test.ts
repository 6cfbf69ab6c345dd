import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionConnection } from '../../../src/channels/connection/connection.ts'
import { giveToNetwork } from '../../../src/channels/unofficial/send/give-file.ts'
import { pictureFile as file, type SessionWorld, sessionWorld } from '../../support/channels/session-world.ts'

const isThere = { openFile: async (_: string, id: string) => (id === file.id ? file : null) }
const { signal } = new AbortController()

const give = (w: SessionWorld, id = file.id, until = signal) =>
  giveToNetwork(
    { ...w, pollMs: 20 },
    { workspaceId: w.workspaceId, id: w.connectionId } as SessionConnection,
    { id },
    until,
  )
const left = (w: SessionWorld) => w.db.sql`select state from session_sends where workspace_id = ${w.workspaceId}`

test('whoever holds the session gives the network a file, and nothing of that stays behind', async () => {
  const w = await sessionWorld(isThere)
  await w.talk()
  const given = await give(w)
  assert.ok(given.outcome === 'taken')
  assert.equal(given.platformId, 'given a-row')
  assert.ok(given.livesUntil > w.clock.now())
  assert.equal((await left(w)).length, 0)
})

test('a session that nobody holds gives nothing away', async () => {
  const w = await sessionWorld(isThere)
  assert.deepEqual(await give(w), { outcome: 'failed', errorCode: 'session_not_held', isDown: false })
  assert.equal((await left(w)).length, 0)
})

test('a file that is not there any more is refused', async () => {
  const w = await sessionWorld(isThere)
  await w.talk()
  assert.deepEqual(await give(w, 'another'), { outcome: 'refused', errorCode: 'file_missing' })
})

test('what the network does not take may be given again', async () => {
  const w = await sessionWorld(isThere)
  await w.talk()
  w.network.beforeUpload = () => Promise.reject(new Error('the network is away'))
  assert.deepEqual(await give(w), { outcome: 'failed', errorCode: 'not_sent', isDown: false })
  w.network.beforeUpload = async () => {}
  assert.equal((await give(w)).outcome, 'taken')
})

for (const [what, end] of [
  ['its holder is lost', (w: SessionWorld) => w.expireLease()],
  ['nobody waits for it any more', async (_: SessionWorld, over: AbortController) => over.abort()],
] as const) {
  test(`a file that is on its way when ${what} counts as not given`, async () => {
    const w = await sessionWorld(isThere)
    await w.talk()
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
