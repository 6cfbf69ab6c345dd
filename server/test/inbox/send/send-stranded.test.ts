import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runStep } from '../../../src/base/run-step.ts'
import type { DeliveryStatus } from '../../../src/channels/channel-event.ts'
import type { Order } from '../../../src/channels/connector.ts'
import { settleStrandedSends } from '../../../src/inbox/send/settle-parts.ts'
import { afterStep } from '../../support/after-step.ts'
import { gate } from '../../support/inbox/gate.ts'
import { freshKey, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'

const tell = (
  world: SendWorld,
  {
    externalId,
    status,
    ...more
  }: { externalId: string; correlator: string | null; status: DeliveryStatus; errorCode?: string },
) => world.tell(world.status(externalId, status, { at: world.clock.now(), ...more }))

const namesAndStatuses = async (world: SendWorld, id: string) =>
  (await world.events(id)).map(({ name, payload }) => `${name} ${payload.message?.status ?? payload.status}`)

/** Simulates a process that dies before it reads the platform's response. */
async function die(world: SendWorld, id: string, idempotencyKey: string): Promise<Order> {
  const { deps } = world.node
  let order: Order | undefined
  world.platform.onCall = (call) => {
    order = call
  }
  deps.step = afterStep((step) => {
    if (step === 'call') throw new Error('dead')
  })
  assert.equal((await world.post(id, { idempotencyKey })).status, 500)
  deps.step = runStep
  await world.db
    .sql`update dispatches set alive_until = statement_timestamp() - interval '1 ms' where conversation_id = ${id}`
  return order ?? assert.fail('nothing was called')
}

test('an unknown result is 409 NOT_RETRYABLE for ten minutes, then failed with outcome_unknown', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const idempotencyKey = freshKey()
  const { correlator } = await die(world, id, idempotencyKey)
  const early = await world.post(id, { idempotencyKey })
  assert.deepEqual([early.status, early.body.data.code], [409, 'NOT_RETRYABLE'])
  world.clock.advance(10 * 60_000 - 1)
  assert.equal(await settleStrandedSends(world.node.deps), 0)
  world.clock.advance(1)
  assert.equal(await settleStrandedSends(world.node.deps), 1)
  const messageId = correlator.slice(0, 36)
  const late = await world.post(id, { idempotencyKey })
  assert.deepEqual([late.status, late.body], [202, { message_id: messageId, status: 'failed' }])
  assert.equal((await world.message(messageId)).error_code, 'outcome_unknown')
  assert.deepEqual(await namesAndStatuses(world, id), ['inbox.message.sent failed'])
  assert.equal(world.platform.calls.length, 1)

  await tell(world, { externalId: 'wamid.late', correlator, status: 'delivered' })
  assert.equal((await world.message(messageId)).status, 'delivered')
  assert.equal((await namesAndStatuses(world, id)).at(-1), 'inbox.message.status delivered')
  const after = await world.post(id, { idempotencyKey })
  assert.equal(after.text, late.text, 'the first answer stays')
})

test('a status with our correlator settles a send whose process has died', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const idempotencyKey = freshKey()
  const { correlator } = await die(world, id, idempotencyKey)
  await tell(world, { externalId: 'wamid.1', correlator, status: 'sent' })
  const reply = await world.post(id, { idempotencyKey })
  assert.deepEqual([reply.status, reply.body.status], [202, 'sent'])
  assert.deepEqual(await namesAndStatuses(world, id), ['inbox.message.sent sent'])
})

for (const by of ['correlator', 'external id'] as const) {
  test(`a status that overtakes the platform's own response, known by its ${by}, is not lost`, async () => {
    const world = await sendWorld()
    const { id } = await world.conversation()
    const deps = world.node.deps
    deps.step = afterStep(async (step) => {
      const [call] = world.platform.accepted
      if (step !== 'call' || call === undefined) return
      const { externalId, correlator } = call
      await tell(world, { externalId, correlator: by === 'correlator' ? correlator : null, status: 'delivered' })
    })
    const { status, body } = await world.post(id)
    assert.deepEqual([status, body.status], [202, 'sent'])
    assert.equal((await world.message(body.message_id)).status, 'delivered')
    // The caller got `sent`, so the first event says `sent` and the higher status follows.
    assert.deepEqual(await namesAndStatuses(world, id), ['inbox.message.sent sent', 'inbox.message.status delivered'])
    const parked = await world.db.sql`select 1 from parked_statuses where workspace_id = ${world.workspaceId}`
    assert.equal(parked.length, 0)
  })
}

test('behind a hanging platform a send waits a limited time for its turn, and then reports that it was not sent', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const { pass, reached: called, open: answer } = gate()
  world.platform.onCall = pass
  const first = world.post(id, { body: text('one') })
  await called
  world.node.deps.maxTurnMs = 20
  const idempotencyKey = freshKey()
  const second = await world.post(id, { idempotencyKey, body: text('two') })
  assert.deepEqual([second.status, second.body.status], [202, 'failed'])
  const { status, error_code } = await world.message(second.body.message_id)
  assert.deepEqual([status, error_code], ['failed', 'not_sent'])

  answer()
  assert.equal((await first).body.status, 'sent')
  assert.equal((await world.post(id, { body: text('three') })).body.status, 'sent')
  const repeated = await world.post(id, { idempotencyKey, body: text('two') })
  assert.deepEqual([repeated.text, repeated.isReplay], [second.text, true])
  assert.deepEqual(
    world.platform.accepted.map((message) => message.text),
    ['one', 'three'],
  )
})

test('the next send of a conversation waits for a live one, but not for a dead one', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  await die(world, id, freshKey())
  assert.equal((await world.post(id)).body.status, 'sent')
})

test('if the platform gives two messages one id, its statuses apply to the first', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const { connectors } = world.node.deps
  const send = async () => ({ outcome: 'accepted', externalId: 'wamid.same', platformUserPhone: null }) as const
  world.node.deps.connectors = { ...connectors, waba: { ...connectors.waba, send } }
  const replies = [await world.post(id), await world.post(id)]
  await tell(world, { externalId: 'wamid.same', correlator: null, status: 'failed', errorCode: '131026' })
  const standing = await Promise.all(replies.map(async ({ body }) => (await world.message(body.message_id)).status))
  assert.deepEqual(standing, ['failed', 'sent'])
})
