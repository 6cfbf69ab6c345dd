import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { reserveSlot, type SendRates, sendRatesOf } from '../../../src/inbox/send/send-rate.ts'
import { noon, sendWorld } from '../../support/inbox/send-world.ts'

const limits: [string, SendRates, number][] = [
  ['official', sendRatesOf({ channel: 'waba', isOnPhone: false }), 80],
  ['official, also used on a phone', sendRatesOf({ channel: 'waba', isOnPhone: true }), 20],
  ['partner', sendRatesOf({ channel: 'partner', isOnPhone: false }), 80],
]
for (const [name, { connection, pair }, perSecond] of limits) {
  test(`the send rate stays below the platform's limits: ${name}`, () => {
    assert.ok(connection.burst + 1000 / connection.everyMs <= perSecond)
    assert.ok(pair.burst < 45 && pair.everyMs > 6000)
  })
}

test('slots are immediate up to the burst, then one by one, over all nodes', async () => {
  const world = await sendWorld()
  const nodes = [world.db, (await world.addNode()).deps.db]
  const paces = { connection: { burst: 5, everyMs: 60_000 }, pair: { burst: 100, everyMs: 1 } }
  const connectionId = newId(noon)
  const waits = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      (nodes[n % 2] ?? world.db).tx((tx) => reserveSlot(tx, world.workspaceId, connectionId, newId(noon), paces)),
    ),
  )
  waits.sort((a, b) => a - b)
  assert.deepEqual(waits.slice(0, 5), [0, 0, 0, 0, 0])
  for (const [n, wait] of waits.slice(5).entries()) assert.ok(Math.abs(wait - (n + 1) * 60_000) < 30_000, `${wait}`)
})

test('one customer is limited by the rate of the pair, without delaying others', async () => {
  const world = await sendWorld()
  const paces = { connection: { burst: 100, everyMs: 1 }, pair: { burst: 2, everyMs: 60_000 } }
  const [connectionId, one, two] = [newId(noon), newId(noon), newId(noon)]
  const take = (id: string) => world.db.tx((tx) => reserveSlot(tx, world.workspaceId, connectionId, id, paces))
  assert.deepEqual([await take(one), await take(one)], [0, 0])
  assert.ok((await take(one)) > 30_000)
  assert.equal(await take(two), 0)
})

test('a send waits for its slot and is then sent: nothing is dropped, and batched sends get the same slots as single ones', async () => {
  const world = await sendWorld()
  world.node.deps.sendRatesOf = () => ({ connection: { burst: 4, everyMs: 10 }, pair: { burst: 100, everyMs: 1 } })
  const startedAt = performance.now()
  const conversations = await Promise.all(Array.from({ length: 12 }, () => world.conversation()))
  const replies = await Promise.all(conversations.map(({ id }) => world.post(id)))
  assert.ok(replies.every(({ body }) => body.status === 'sent'))
  const last = Math.max(...world.platform.accepted.map(({ at }) => at))
  assert.ok(last - startedAt >= 8 * 10 - 1, 'the last waits for its place')
})
