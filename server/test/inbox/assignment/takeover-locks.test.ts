import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNewestHandover } from '../../../src/inbox/assignment/handovers.ts'
import { takeOffered } from '../../../src/inbox/assignment/transfer-to-agent.ts'
import {
  addAgent,
  conversationWorld,
  customerMessage,
  inboxPath,
  inboxWorld,
  marina,
} from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

async function owned() {
  const one = await conversationWorld()
  const { w, agent, id, member, place } = one
  const scope = { workspaceId: w.workspaceId, connectionIds: [] }
  return {
    ...one,
    scope,
    held: async () => (await member.call('GET', place)).body.conversation.held,
    take: () => takeOffered(w, scope, agent.id, id),
    patch: (owner: string) => w.patch(id, { owner }, agent.value),
    hold: async () => {
      const admin = await signedInMember(w, 'admin')
      const { body } = await admin.call('PATCH', '', { agentsMayTakeBack: 'when_handed' })
      assert.equal(body.workspace.agentsMayTakeBack, 'when_handed')
    },
  }
}

const refusedWith = (code: string) => (error: unknown) => {
  const { data, message } = error as { data: { code: string; owner: string; since: string }; message: string }
  assert.equal(data.code, code)
  assert.ok(Date.parse(data.since) > 0)
  assert.doesNotMatch(message, /take|PATCH/i)
  return true
}

test('a key takes back by PATCH what a member took; where only handed-over ones can be taken, it is 409 with owner and since', async () => {
  const { w, agent, member, place, patch, hold } = await owned()
  await member.call('POST', `${place}/take-over`)
  assert.equal((await patch(`agent:${agent.id}`)).status, 200, 'as the contract says')
  await hold()
  w.clock.advance(1000)
  await member.call('POST', `${place}/take-over`)
  const { status, body } = await patch(`agent:${agent.id}`)
  assert.deepEqual(
    [status, body.data],
    [409, { code: 'OWNER_MISMATCH', owner: 'human', since: w.clock.now().toISOString() }],
  )
  assert.doesNotMatch(body.statusMessage, /take|PATCH/i)
  await member.call('POST', `${place}/hand-back`, { keyId: agent.id })
  assert.equal((await patch(`agent:${agent.id}`)).status, 200)
})

test('the agent API never takes what a member has taken over, whatever the workspace allows', async () => {
  const { agent, member, place, take, held } = await owned()
  await member.call('POST', `${place}/take-over`)
  assert.equal(await held(), true)
  await assert.rejects(take, refusedWith('HELD_BY_PEOPLE'))
  await member.call('POST', `${place}/offer`, {})
  assert.equal(await held(), false)
  const taken = await take()
  assert.deepEqual(taken.owner, { type: 'agent', keyId: agent.id })
  assert.deepEqual((await take()).ownerEpoch, taken.ownerEpoch)
})

test('an echo does not lock a conversation: an agent can take it as before', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  const agent = await addAgent(w)
  const echo = { connection_id: w.connectionId, to: marina.phone, external_id: 'wamid.copy', kind: 'text', body: 'x' }
  await w.call('POST', `${inboxPath}/echoes`, { body: echo, key: agent.value })
  const taken = await takeOffered(w, { workspaceId: w.workspaceId, connectionIds: [] }, agent.id, id)
  assert.deepEqual(taken.owner, { type: 'agent', keyId: agent.id })
})

test('assigning a conversation to a member locks it to people', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  const agent = await addAgent(w)
  const member = await signedInMember(w)
  await member.call('PATCH', `/inbox/conversations/${id}`, { assignedTo: member.userId })
  const scope = { workspaceId: w.workspaceId, connectionIds: [] }
  await assert.rejects(() => takeOffered(w, scope, agent.id, id), refusedWith('HELD_BY_PEOPLE'))
})

test('a merged conversation belongs to people if one of the two did', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const nobody = { userId: null, parentUserId: null, phone: null, name: null }
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...nobody, phone: '5511977776666' } }))
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...nobody, userId: 'BR.77' } }))
  const younger = (await w.conversations()).find((one) => one.contact.phone === null)
  await member.call('POST', `/inbox/conversations/${younger.id}/take-over`)
  await w.deliver(
    customerMessage({ at: w.clock.now(), customer: { ...nobody, phone: '5511977776666', userId: 'BR.77' } }),
  )
  const [one, ...more] = await w.conversations()
  assert.equal(more.length, 0)
  assert.equal((await member.call('GET', `/inbox/conversations/${one.id}`)).body.conversation.held, true)
})

test('the note of a hand-back names the agent it is for', async () => {
  const { w, agent, id, member, place, take } = await owned()
  await member.call('POST', `${place}/take-over`)
  const note = { summary: 'Price agreed.', reason: 'Office closes.', nextStep: 'Ask for the address.' }
  await member.call('POST', `${place}/hand-back`, { keyId: agent.id, note })
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const read = () => findNewestHandover({ sql: w.db.sql, keyring, workspaceId: w.workspaceId }, id)
  const told = await read()
  assert.deepEqual([told?.summary, told?.reason, told?.nextStep], Object.values(note))
  assert.deepEqual(told?.actor, { type: 'user', id: member.userId })
  assert.deepEqual(told?.to, { type: 'agent', keyId: agent.id })
  const last = (await w.events(id)).at(-1)
  assert.equal(last?.payload.handover_id, told?.id)
  await member.call('POST', `${place}/take-over`)
  await member.call('POST', `${place}/offer`, { note: { summary: 'Wants a quote.' } })
  await take()
  const offered = await read()
  assert.deepEqual([offered?.summary, offered?.to], ['Wants a quote.', { type: 'agents' }])
})

test('an offer is refused while an agent has the conversation, and while agents are stopped', async () => {
  const { w, member, place } = await owned()
  assert.equal((await member.call('POST', `${place}/offer`, {})).status, 409)
  const admin = await signedInMember(w, 'admin')
  await admin.call('PATCH', '', { agentsStopped: true })
  assert.equal((await member.call('POST', `${place}/offer`, {})).status, 403)
})
