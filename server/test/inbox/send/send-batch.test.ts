import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDistributed } from '../../../src/base/citus/distributed-sql.ts'
import { holdConversations, waitForLockWaiter } from '../../support/inbox/gate.ts'
import { noon, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'

const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

/** Blocks all platform calls until this many have started. */
function blockCallsUntil({ platform }: SendWorld, count: number): void {
  const { promise: allAreThere, resolve } = Promise.withResolvers<void>()
  platform.onCall = () => {
    if (platform.calls.length >= count) resolve()
    return allAreThere
  }
}

test('40 concurrent sends to 40 conversations take a few statements, with one call, event and response each', async () => {
  const world = await sendWorld()
  let statements = 0
  const node = await world.addNode({ onStatement: () => void statements++ })
  const lastMessageAt = new Date(noon.getTime() - 1)
  const conversations = await many(41, () => world.conversation({ lastMessageAt }))
  // Loads key and credentials into the caches first.
  await world.post(conversations.pop()?.id ?? '', { node })
  statements = 0
  world.platform.calls.length = 0
  blockCallsUntil(world, 40)
  const replies = await Promise.all(conversations.map(({ id }) => world.post(id, { node, body: text(id) })))
  assert.ok(replies.every(({ status, body, isReplay }) => status === 202 && body.status === 'sent' && !isReplay))
  // The first two run alone and all others with the third: eight statements to reserve them, plus a lock on the rules
  // with Citus; seven to settle.
  assert.ok(statements <= 3 * ((isDistributed(world.db.sql) ? 9 : 8) + 7), `${statements} statements`)
  assert.equal(world.platform.calls.length, 40)
  for (const [n, { id, contact }] of conversations.entries()) {
    const sent = world.platform.accepted.filter(({ to }) => to === contact.phone)
    assert.deepEqual(
      sent.map(({ text: words, correlator }) => [words, correlator]),
      [[id, `${replies[n]?.body.message_id}:1`]],
    )
    const told = await world.events(id)
    assert.deepEqual(
      told.map(({ name, payload }) => [name, payload.message.text]),
      [['inbox.message.sent', id]],
    )
  }
  const left = await world.db.sql`select from dispatches where workspace_id = ${world.workspaceId}`
  assert.equal(left.length, 0)
})

test('an unreadable conversation fails only its own sends', async () => {
  const world = await sendWorld()
  const conversations = await many(12, () => world.conversation())
  await world.db.sql`update conversations set contact = ${Buffer.alloc(40)} where id = ${conversations[7]?.id ?? ''}`
  const replies = await Promise.all(conversations.map(({ id }) => world.post(id)))
  assert.deepEqual(
    replies.map(({ status }) => status),
    conversations.map((_, n) => (n === 7 ? 500 : 202)),
  )
  assert.equal(world.platform.calls.length, 11)
})

test('a locked conversation delays only its own sends, before and after the call', async () => {
  const world = await sendWorld()
  const node = await world.addNode()
  const [before, after, ...others] = await many(12, () => world.conversation())
  const releases = [await holdConversations(world, before?.id)]
  const isHeldAfter = Promise.withResolvers<void>()
  world.platform.onCall = async ({ recipient }) => {
    if (recipient.phone !== after?.contact.phone) return
    releases.push(await holdConversations(world, after?.id))
    isHeldAfter.resolve()
  }
  let waiting = 2
  const late = [before, after].map((one) => world.post(one?.id ?? '', { node }).finally(() => waiting--))
  const replies = await Promise.all(others.map(({ id }) => world.post(id, { node })))
  assert.ok(replies.every(({ body }) => body.status === 'sent'))
  await isHeldAfter.promise
  await waitForLockWaiter(world)
  assert.deepEqual([world.platform.accepted.length, waiting], [11, 2])
  await Promise.all(releases.map((release) => release()))
  assert.ok((await Promise.all(late)).every(({ body }) => body.status === 'sent'))
})

test('a call is not allowed with its reservation while a change of owner waits for calls in progress', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  await world.db.sql`
    update conversations set starts_held_until = statement_timestamp() + interval '60 ms' where id = ${id}`
  const held: boolean[] = []
  world.platform.onCall = async () => {
    const [row] = await world.db.sql`
      select starts_held_until > clock_timestamp() as is_held from conversations where id = ${id}`
    held.push(row?.is_held)
  }
  assert.equal((await world.post(id)).body.status, 'sent')
  assert.deepEqual(held, [false])
})
