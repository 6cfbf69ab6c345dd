import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revokeApiKey } from '../../src/auth/api-keys/change-key.ts'
import type { Db } from '../../src/base/db.ts'
import { relayMessages } from '../../src/base/pubsub.ts'
import { openNode, testDatabase } from '../support/database.ts'
import { livePath, startNode } from '../support/events/feed-world.ts'
import { openStream } from '../support/events/live-stream.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { signedInMember } from '../support/member.ts'
import { databaseByProxy } from '../support/postgres/cutting-proxy.ts'
import { until } from '../support/until.ts'
import { callerOf, type World, world } from '../support/world.ts'

/** Another node whose database connection can be cut. */
async function nodeByProxy(w: World) {
  const { proxy, options } = await databaseByProxy((await testDatabase()).options)
  const said: boolean[] = []
  const db: Db = openNode({ ...options, connectTimeoutMs: 2_000, onListening: (isHearing) => said.push(isHearing) })
  atEnd(() => db.close())
  const failures: unknown[] = []
  const stops = await Promise.all([w.db, db].map((one) => relayMessages(one, (error) => failures.push(error))))
  atEnd(async () => {
    for (const stop of stops) stop()
  })
  return { node: await startNode(w, { db }), proxy, said }
}

test('after a lost LISTEN connection, browsers get a reset', async () => {
  const w = await world({ scopes: ['leads.read'] })
  const { node, proxy, said } = await nodeByProxy(w)
  const member = await signedInMember(w, 'admin')
  const stream = await openStream(`${node.url}${livePath(w)}`, { cookie: member.cookie })
  atEnd(async () => stream.close())
  const start = await stream.next()
  proxy.cutAfter(0)
  proxy.cutAll()
  await until(() => said.length === 1, 'deafness')
  // Polling cannot detect such a change.
  const renamed = await member.call('PATCH', '', { name: 'Another name' })
  assert.equal(renamed.status, 200)
  proxy.cutAfter(null)
  const reset = await stream.nextEvent('reset')
  assert.equal(reset.id, start.id)
})

test('a key revoked while a node has no LISTEN connection is refused there within 5 s', async () => {
  const w = await world({ scopes: ['leads.read'] })
  const { node, proxy, said } = await nodeByProxy(w)
  const ask = () => callerOf(node.app, w.key)('GET', '/api/v1/leads')
  assert.equal((await ask()).status, 200)
  proxy.cutAfter(0)
  proxy.cutAll()
  await until(() => said.length === 1, 'deafness')
  await w.db.tx((tx) => revokeApiKey(tx, w.workspaceId, w.keyId, w.clock.now()))
  const meanwhile = await ask()
  assert.deepEqual([meanwhile.status, meanwhile.headers['retry-after']], [503, '5'])
  proxy.cutAfter(null)
  await until(() => said.length === 2, 'hearing again')
  w.clock.advance(5_000)
  assert.equal((await ask()).status, 401)
})
