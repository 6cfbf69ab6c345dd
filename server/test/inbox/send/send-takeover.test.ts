import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { human } from '../../../src/inbox/conversation/owner.ts'
import { updateConversation } from '../../../src/inbox/ownership/update.ts'
import { type Node, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'
import { afterStep } from '../../support/steps.ts'

async function takeOver({ workspaceId, member }: SendWorld, { deps }: Node, id: string): Promise<void> {
  await updateConversation(deps, { workspaceId, connectionIds: [] }, member.actor, id, { owner: human })
}

async function epochOf(world: SendWorld, id: string): Promise<number> {
  const [row] = await world.db.sql`select owner_epoch from conversations where id = ${id}`
  return row?.owner_epoch
}

const races = Number(process.env.TAKEOVER_ROUNDS ?? 300)

test(`no send of the old owner starts once a takeover has committed: ${races} races over two nodes' pools`, async (t) => {
  const world = await sendWorld()
  const other = await world.addNode()
  const conversationOf = new Map<string, Conversation>()
  let broken = 0
  // While an agent's call is at the platform, the owner must still be the one that it was reserved under.
  world.platform.onCall = async ({ recipient }) => {
    await sleep(Math.random() * 6)
    const { id, ownerEpoch } = conversationOf.get(recipient.phone ?? '') ?? assert.fail('unknown recipient')
    if ((await epochOf(world, id)) !== ownerEpoch) broken++
  }
  // Between the permission to start and the first byte lies the gap that a takeover could slip into.
  world.node.deps.step = afterStep(async (step) => {
    if (step === 'allow') await sleep(Math.random() * 6)
  })
  const outcomes = { sent: 0, owner_changed: 0, OWNER_MISMATCH: 0 }
  // However long a send takes here, it is to win as often as not: who lost gets a little more time.
  let headStartMs = 12
  const race = async () => {
    const one = await world.conversation()
    conversationOf.set(one.contact.phone ?? '', one)
    const sending = sleep(Math.random() * 12).then(() => world.post(one.id))
    const taking = sleep(Math.random() * headStartMs).then(() => takeOver(world, other, one.id))
    const [{ status, body }] = await Promise.all([sending, taking])
    headStartMs *= body.status === 'sent' ? 0.96 : 1.04
    if (status === 409) outcomes.OWNER_MISMATCH++
    else if (body.status === 'sent') outcomes.sent++
    else {
      assert.equal((await world.message(body.message_id)).error_code, 'owner_changed')
      outcomes.owner_changed++
    }
    assert.equal(await epochOf(world, one.id), one.ownerEpoch + 1)
  }
  for (let round = 0; round < races; round += 4) await Promise.all([race(), race(), race(), race()])
  t.diagnostic(JSON.stringify(outcomes))
  assert.equal(broken, 0)
  assert.ok(outcomes.sent > 0 && outcomes.OWNER_MISMATCH > 0)
  assert.equal(world.platform.calls.length, outcomes.sent)
})

test('a takeover between two parts stops the rest: the message fails with owner_changed', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  let taking = Promise.resolve()
  world.platform.onCall = async ({ correlator }) => {
    if (!correlator.endsWith(':1')) return
    taking = takeOver(world, world.node, id)
    // The call lasts until the takeover waits for it.
    const held = () => world.db.sql`select from conversations where id = ${id} and starts_held_until is not null`
    while ((await held()).length === 0) await sleep(5)
  }
  const { status, body } = await world.post(id, { body: text('word '.repeat(3000)) })
  await taking
  assert.deepEqual([status, body.status], [202, 'failed'])
  assert.equal((await world.message(body.message_id)).error_code, 'owner_changed')
  assert.equal(world.platform.calls.length, 1)
})

test('a send that waits for its turn is stopped by a takeover meanwhile, and a member’s is not', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const firstIsThere = Promise.withResolvers<void>()
  world.platform.onCall = () => firstIsThere.resolve()
  world.platform.delayMs = 200
  const first = world.post(id)
  await firstIsThere.promise
  const second = world.post(id, { body: text('second') })
  while ((await world.db.sql`select 1 from dispatches where conversation_id = ${id}`).length < 2) await sleep(5)
  await takeOver(world, world.node, id)
  assert.equal((await first).body.status, 'sent')
  assert.equal((await second).body.status, 'failed')
  assert.equal(world.platform.calls.length, 1)
})

test('a takeover waits for a platform that hangs no longer than a call may take to start', async () => {
  const world = await sendWorld()
  const { id } = await world.conversation()
  const [isThere, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  world.platform.onCall = () => {
    isThere.resolve()
    return mayEnd.promise
  }
  const sending = world.post(id)
  await isThere.promise
  // It would not come to its end if it waited for that of the call.
  await takeOver(world, world.node, id)
  mayEnd.resolve()
  // The call had started before, so it counts.
  assert.equal((await sending).body.status, 'sent')
})
