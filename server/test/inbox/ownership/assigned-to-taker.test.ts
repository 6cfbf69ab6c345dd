import assert from 'node:assert/strict'
import { test } from 'node:test'
import { human } from '../../../src/inbox/conversation/owner.ts'
import { sendMessage } from '../../../src/inbox/send/send.ts'
import type { Sender } from '../../../src/inbox/send/send-deps.ts'
import { addAgent, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { freshKey, sendWorld, text } from '../../support/inbox/send-world.ts'
import { signedInMember } from '../../support/member.ts'

async function taken() {
  const w = await inboxWorld()
  const agent = await addAgent(w)
  const { id } = await w.customerWrites('Hi')
  const [ana, bea] = [await signedInMember(w), await signedInMember(w)]
  const place = `/inbox/conversations/${id}`
  await ana.call('POST', `${place}/take-over`)
  const assigned = async () => (await ana.call('GET', place)).body.conversation.assignedTo
  const mine = async () => (await ana.call('GET', '/inbox/counts')).body.counts.mine.open
  return { w, agent, id, ana, bea, place, assigned, mine }
}

test('who takes over has it assigned, in the same step and with a line in the thread; the keys see it', async () => {
  const { w, agent, id, ana, place, mine } = await taken()
  assert.equal(await mine(), 1)
  const { items } = (await ana.call('GET', `${place}/timeline`)).body
  const lines = items.flatMap(({ activity }: { activity?: { kind: string; to: string } }) => activity ?? [])
  assert.deepEqual(
    lines
      .map(({ kind, to }: { kind: string; to: string }) => [kind, to])
      .slice(-2)
      .toSorted(),
    [
      ['assignee', ana.userId],
      ['owner', 'human'],
    ],
  )
  const { body } = await w.call('GET', `/api/v1/inbox/conversations/${id}`, { key: agent.value })
  assert.equal(body.conversation.assigned_to_user_id, ana.userId)
})

test('what is assigned stays so when another takes it, and is freed by its own member alone who hands it on', async () => {
  const { agent, ana, bea, place, assigned, mine } = await taken()
  await bea.call('POST', `${place}/take-over`)
  await bea.call('POST', `${place}/hand-back`, { keyId: agent.id })
  assert.equal(await assigned(), ana.userId)
  await ana.call('POST', `${place}/take-over`)
  await ana.call('POST', `${place}/hand-back`, { keyId: agent.id })
  assert.deepEqual([await assigned(), await mine()], [null, 0])
  await ana.call('POST', `${place}/take-over`)
  await ana.call('POST', `${place}/offer`, {})
  assert.equal(await assigned(), null)
})

test('who answers has it assigned; a team token leaves it to nobody', async () => {
  const { node, member, workspaceId, db, conversation } = await sendWorld()
  const assignedAfter = async (sender: Sender, body: object) => {
    const { id } = await conversation({ owner: human })
    const request = { conversationId: id, idempotencyKey: freshKey(), body, language: 'whole' } as const
    await sendMessage(node.deps, sender, request)
    const [row] = await db.sql<{ assigned_to: string | null }[]>`
      select assigned_to
      from conversations
      where workspace_id = ${workspaceId}
        and id = ${id}`
    return row?.assigned_to
  }
  const token: Sender = { ...member, actor: { type: 'token', id: member.actor.id ?? '' } }
  assert.equal(await assignedAfter(member, text()), member.actor.id)
  assert.equal(await assignedAfter(token, text()), null)
})
