import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateConversation } from '../../../src/inbox/assignment/update-conversation.ts'
import { takeoverWaitMs } from '../../../src/inbox/conversation/dispatches.ts'
import { human } from '../../../src/inbox/conversation/owner.ts'
import type { SendStep } from '../../../src/inbox/send/send-deps.ts'
import { actorOfSender } from '../../../src/inbox/send/send-deps.ts'
import { afterStep } from '../../support/after-step.ts'
import { gate } from '../../support/inbox/gate.ts'
import { type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'

/** Starts an agent's call that stays at the platform until the test completes it. */
async function calling(body = text()) {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const { pass, reached, open: answer } = gate()
  world.platform.onCall = pass
  const sending = world.post(id, { body })
  await reached
  return { world, id, sending, answer }
}

/** Starts a takeover that has blocked further calls and polls whether the running ones have started. */
async function takeOver({ workspaceId, member, addNode }: SendWorld, id: string) {
  const waits = Promise.withResolvers<void>()
  let isHeld = false
  const onStatement = ({ text: sql }: { text: string }) => {
    if (/set starts_held_until/.test(sql)) isHeld = true
    else if (isHeld && /dispatches/.test(sql)) waits.resolve()
  }
  const { deps } = await addNode({ onStatement })
  const scope = { workspaceId, connectionIds: [] }
  const taken = updateConversation(deps, scope, actorOfSender(member), id, { owner: human })
  await waits.promise
  return { taken }
}

test('a takeover between two parts stops the rest: the message fails with owner_changed', async () => {
  const { world, id, sending, answer } = await calling(text('word '.repeat(3000)))
  const { taken } = await takeOver(world, id)
  answer()
  const { status, body } = await sending
  await taken
  assert.deepEqual([status, body.status], [202, 'failed'])
  assert.equal((await world.message(body.message_id)).error_code, 'owner_changed')
  assert.equal(world.platform.calls.length, 1)
})

test('a send that waits for its turn is stopped by a takeover', async () => {
  const { world, id, sending, answer } = await calling()
  const isReserved = Promise.withResolvers<void>()
  world.node.deps.step = afterStep<SendStep>((step) => {
    if (step === 'reserve') isReserved.resolve()
  })
  const second = world.post(id, { body: text('second') })
  await isReserved.promise
  const { taken } = await takeOver(world, id)
  answer()
  await taken
  assert.equal((await sending).body.status, 'sent')
  assert.equal((await second).body.status, 'failed')
  assert.equal(world.platform.calls.length, 1)
})

test('a takeover waits for a hanging platform no longer than a call may take to start', async () => {
  const { world, id, sending, answer } = await calling()
  const { taken } = await takeOver(world, id)
  const [call] = await world.db.sql<{ left_ms: number }[]>`
    select extract(epoch from starting_until - clock_timestamp())::float8 * 1000 as left_ms
    from dispatches
    where conversation_id = ${id}`
  assert.ok(call && call.left_ms < takeoverWaitMs)
  // Simulates that time: the takeover would not end if it waited for the end of the call.
  await world.db.sql`update dispatches set starting_until = clock_timestamp() where conversation_id = ${id}`
  await taken
  answer()
  // The call had started before, so its result counts.
  assert.equal((await sending).body.status, 'sent')
})
