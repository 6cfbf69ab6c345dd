import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallbackConnectionCache } from '../../../src/channels/callback-connections.ts'
import type { StoredConnection } from '../../../src/channels/connection/connection.ts'
import { liveUpdatesTopic } from '../../../src/team/live-updates.ts'
import { type ChannelWorld, channelWorld } from '../../support/channels/channel-world.ts'
import { bytesOf, callback, signatureOf, text } from '../../support/channels/waba-payloads.ts'
import { statementsOf } from '../../support/database.ts'

const secrets = { old: 'an-app-secret-of-16', new: 'another-secret-of-16' }

function call({ app }: ChannelWorld, { id, numberId }: StoredConnection, secret: string) {
  const body = bytesOf(callback('messages', { messages: [text('Hi')] }, numberId))
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(secret, body) }
  return app.inject({ method: 'POST', url: `/channels/waba/${id}/webhook`, headers, payload: body })
}

const statusOf = async (...args: Parameters<typeof call>) => (await call(...args)).statusCode

test('a changed secret, a removal and a new connection apply to the next callback', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  assert.equal(await statusOf(w, one, secrets.old), 200)
  assert.equal((await w.call('PATCH', `/${one.id}`, { appSecret: secrets.new })).statusCode, 200)
  assert.deepEqual([await statusOf(w, one, secrets.old), await statusOf(w, one, secrets.new)], [401, 200])
  const later = await w.connect()
  assert.equal(await statusOf(w, later, secrets.old), 200)
  assert.equal((await w.call('DELETE', `/${one.id}`)).statusCode, 200)
  assert.equal(await statusOf(w, one, secrets.new), 404)
  assert.equal(await statusOf(w, later, secrets.old), 200)
})

/** The cache of another node, which receives this node's notifications only if `passes` allows it. */
function onAnotherNode(w: ChannelWorld, isHeard: () => boolean) {
  const { db } = w.deps
  const subscribe: typeof db.subscribe = (topic, listener) => db.subscribe(topic, (id) => isHeard() && listener(id))
  return createCallbackConnectionCache({ ...w.deps, db: { ...db, subscribe } })
}

const secretAt = async (connections: ReturnType<typeof onAnotherNode>, { id }: StoredConnection) => {
  const [found] = await connections.find('waba', id)
  assert.ok(found?.connection.channel === 'waba')
  return found.connection.settings.appSecret
}

test('another node applies a new secret when notified, otherwise within 4 seconds', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  let isHeard = false
  const other = onAnotherNode(w, () => isHeard)
  assert.equal(await secretAt(other, one), secrets.old)
  await w.call('PATCH', `/${one.id}`, { appSecret: secrets.new })
  w.clock.advance(3_999)
  assert.equal(await secretAt(other, one), secrets.old)
  w.clock.advance(1)
  assert.equal(await secretAt(other, one), secrets.new)
  isHeard = true
  await w.call('PATCH', `/${one.id}`, { appSecret: secrets.old })
  assert.equal(await secretAt(other, one), secrets.old)
})

test('a load during a change of the connection is used once and not cached', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const { keyStore } = w.deps
  const [opening, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow: typeof keyStore = {
    ...keyStore,
    withKeyring: async (scopeId, work) => {
      opening.resolve()
      await go.promise
      return keyStore.withKeyring(scopeId, work)
    },
  }
  const connections = createCallbackConnectionCache({ ...w.deps, keyStore: slow })
  const early = secretAt(connections, one)
  await opening.promise
  await w.call('PATCH', `/${one.id}`, { appSecret: secrets.new })
  go.resolve()
  await early
  assert.equal(await secretAt(connections, one), secrets.new)
})

test('connections are cached: a change in one workspace keeps the entries of others, and unrelated updates keep all', async () => {
  const [w, other] = [await channelWorld(), await channelWorld()]
  const [one, others] = [await w.connect(), await other.connect()]
  const connections = createCallbackConnectionCache(w.deps)
  const readsOf = async (connection: StoredConnection) => {
    const seen = await statementsOf(async () => void (await connections.find('waba', connection.id)))
    return seen.length > 0
  }
  assert.deepEqual([await readsOf(one), await readsOf(others)], [true, true])
  await w.call('PATCH', `/${one.id}`, { name: 'Another name' })
  assert.deepEqual([await readsOf(one), await readsOf(others)], [true, false])
  w.deps.db.deliver({ topic: liveUpdatesTopic, id: `${w.workspaceId} team.workspace.changed ${w.workspaceId}` })
  assert.deepEqual([await readsOf(one), await readsOf(others)], [false, false])
})

test('many calls to unknown addresses cache nothing; 200 concurrent calls to one address load it at most twice', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const connections = createCallbackConnectionCache(w.deps)
  await connections.find('waba', one.id)
  let asked = 0
  const counting = createCallbackConnectionCache({
    ...w.deps,
    db: {
      ...w.deps.db,
      get sql() {
        asked++
        return w.deps.db.sql
      },
    },
  })
  const nobody = '00000000-0000-4000-8000-000000000000'
  const found = await Promise.all(Array.from({ length: 200 }, () => counting.find('waba', nobody)))
  assert.deepEqual(found.flat(), [])
  assert.ok(asked <= 2, `${asked} reads`)
  await w.deps.db.sql`update connections set removed_at = now() where id = ${one.id}`
  assert.deepEqual(await counting.find('waba', one.id), [])
  await w.deps.db.sql`update connections set removed_at = null where id = ${one.id}`
  assert.equal((await counting.find('waba', one.id)).length, 1, 'who is connected at it is called at once')
  for (const id of ['x', `${one.id}'`, '../..', nobody]) {
    assert.equal(await statusOf(w, { ...one, id: encodeURIComponent(id) }, secrets.old), 404, id)
  }
  assert.equal((await statementsOf(async () => void (await connections.find('waba', one.id)))).length, 0)
})
