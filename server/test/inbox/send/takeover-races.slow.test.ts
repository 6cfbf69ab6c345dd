import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { updateConversation } from '../../../src/inbox/assignment/update-conversation.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { human } from '../../../src/inbox/conversation/owner.ts'
import { actorOfSender } from '../../../src/inbox/send/send-deps.ts'
import { afterStep } from '../../support/after-step.ts'
import { type Node, type SendWorld, sendWorld } from '../../support/inbox/send-world.ts'

async function takeOver({ workspaceId, member }: SendWorld, { deps }: Node, id: string): Promise<void> {
  await updateConversation(deps, { workspaceId, connectionIds: [] }, actorOfSender(member), id, { owner: human })
}

async function epochOf(world: SendWorld, id: string): Promise<number> {
  const [row] = await world.db.sql`select owner_epoch from conversations where id = ${id}`
  return row?.owner_epoch
}

const races = Number(process.env.TAKEOVER_ROUNDS ?? 300)

test(`no send of the previous owner starts once a takeover has committed: ${races} races over two nodes' pools`, async (t) => {
  const world = await sendWorld()
  const other = await world.addNode()
  const conversationOf = new Map<string, Conversation>()
  let broken = 0
  // While an agent's call is at the platform, the owner must still be the one at the reservation.
  world.platform.onCall = async ({ recipient }) => {
    await sleep(Math.random() * 6)
    const { id, ownerEpoch } = conversationOf.get(recipient.phone ?? '') ?? assert.fail('unknown recipient')
    if ((await epochOf(world, id)) !== ownerEpoch) broken++
  }
  // A takeover could slip in between the permission to start and the first byte.
  world.node.deps.step = afterStep(async (step) => {
    if (step === 'allow') await sleep(Math.random() * 6)
  })
  const outcomes = { sent: 0, owner_changed: 0, OWNER_MISMATCH: 0 }
  // Adapts the head start so that sends win about half of the races.
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
