import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handBackExpired, handBackLapsed, runWatchdog } from '../../../src/inbox/ownership/hand-back.ts'
import { wakeSnoozed } from '../../../src/inbox/ownership/snooze-timer.ts'
import { addAgent, conversationPath, customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const minuteMs = 60_000

async function owned(settings: Parameters<typeof addAgent>[1] = {}) {
  const w = await inboxWorld()
  const agent = await addAgent(w, settings)
  const { id } = await w.customerWrites('Hi')
  const owner = async () => (await w.call('GET', conversationPath(id))).body.conversation.owner
  /** What ends an agent's ownership makes it people's, whom no agent takes it from by itself. */
  const isPeoples = async () => {
    const [row] = await w.db.sql`select held from conversations where workspace_id = ${w.workspaceId} and id = ${id}`
    assert.deepEqual([await owner(), row?.held], ['human', true])
  }
  const changes = async () =>
    (await w.events(id)).filter((event) => event.name === 'inbox.conversation.owner_changed').slice(1)
  assert.equal(await owner(), `agent:${agent.id}`)
  return { w, agent, id, owner, isPeoples, changes }
}

test('when the owning key is revoked the conversation goes to people at once, with the event', async () => {
  const { w, agent, isPeoples, changes } = await owned()
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('DELETE', `/keys/${agent.id}`)).status, 200)
  await isPeoples()
  assert.deepEqual(
    (await changes()).map(({ payload }) => payload.actor),
    [{ type: 'system', id: null }],
  )
  assert.equal((await w.customerWrites('Anybody?')).owner, 'human')
})

test('when the owning key is revoked with the member who made it, the conversation goes to people in the same step', async () => {
  const { w, agent, isPeoples, changes } = await owned()
  const [admin, maker] = [await signedInMember(w, 'owner'), await signedInMember(w, 'admin')]
  await w.db.sql`
    update api_keys
    set created_by = ${maker.userId}
    where workspace_id = ${w.workspaceId}
      and id = ${agent.id}`
  const removed = await admin.call('DELETE', `/members/${maker.userId}?keys=revoke`)
  assert.equal(removed.body.ended.keys, 1)
  await isPeoples()
  assert.equal((await changes()).length, 1)
})

test('when the owning key may no longer answer, or no longer see the connection, the conversation goes to people', async () => {
  for (const lost of [{ scopes: ['inbox.read'] }, { connectionIds: [] as string[] }]) {
    const { w, agent, owner, isPeoples, changes } = await owned()
    const admin = await signedInMember(w, 'admin')
    const other = await w.addConnection()
    const change = (body: object) => admin.call('PATCH', `/keys/${agent.id}`, body)
    assert.equal((await change({ name: 'Renamed', connectionIds: [w.connectionId, other] })).status, 200)
    assert.equal(await owner(), `agent:${agent.id}`, 'what it goes on to see stays its own')
    assert.equal((await change('scopes' in lost ? lost : { connectionIds: [other] })).status, 200)
    await isPeoples()
    assert.equal((await changes()).length, 1)
  }
})

for (const [when, lateMs, give] of [
  ['at once', 0, handBackExpired],
  ['an hour later, as no worker ran', 59 * minuteMs, handBackLapsed],
] as const) {
  test(`when the owning key expires its conversations go to people, each with one event: ${when}`, async () => {
    const w = await inboxWorld()
    const { w: _, ...mine } = await owned({ expiresAt: new Date(w.clock.now().getTime() + minuteMs) })
    await handBackExpired(w.db, w.vault, w.clock)
    assert.notEqual(await mine.owner(), 'human')
    w.clock.advance(minuteMs + lateMs)
    await Promise.all([give(w.db, w.vault, w.clock), give(w.db, w.vault, w.clock)])
    await mine.isPeoples()
    assert.equal((await mine.changes()).length, 1)
  })
}

test('the stop switch hands everything to people, and nothing goes to an agent until it is off', async () => {
  const { w, agent, id, isPeoples, changes } = await owned()
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('PATCH', '', { agentsStopped: true })).status, 200)
  await isPeoples()
  assert.deepEqual(
    (await changes()).map(({ payload }) => payload.actor),
    [{ type: 'user', id: admin.userId }],
  )
  await w.tell(customerMessage({ at: w.clock.now(), customer: { ...marina, phone: '5511988887777' } }))
  assert.equal((await w.conversations({ phone: '5511988887777' }))[0].owner, 'human')
  const taken = await w.patch(id, { owner: `agent:${agent.id}` }, agent.value)
  assert.deepEqual([taken.status, taken.body.data], [403, { code: 'OWNER_FORBIDDEN' }])
  await admin.call('PATCH', '', { agentsStopped: false })
  assert.equal((await w.patch(id, { owner: `agent:${agent.id}` }, agent.value)).status, 200)
})

test('the watchdog gives people what an agent has left unanswered for too long', async () => {
  const { w, id, owner, isPeoples, changes } = await owned()
  const admin = await signedInMember(w, 'admin')
  const look = () => runWatchdog(w.db, w.vault, w.clock)
  w.clock.advance(9 * minuteMs)
  await look()
  await admin.call('PATCH', '', { agentWatchdogMinutes: 10 })
  await look()
  assert.notEqual(await owner(), 'human')
  w.clock.advance(minuteMs)
  await Promise.all([look(), look()])
  await isPeoples()
  assert.equal((await changes()).length, 1)
  const again = await signedInMember(w)
  const agent = (await w.events(id))[0]?.payload.owner as string
  await again.call('POST', `/inbox/conversations/${id}/hand-back`, { keyId: agent.replace('agent:', '') })
  await look()
  assert.equal(await owner(), agent)
})

test('a snoozed conversation opens at its time', async () => {
  const { w, id } = await owned()
  const member = await signedInMember(w)
  const snoozedUntil = new Date(w.clock.now().getTime() + minuteMs).toISOString()
  await member.call('PATCH', `/inbox/conversations/${id}`, { status: 'snoozed', snoozedUntil })
  await wakeSnoozed(w.db, w.clock)
  assert.equal((await w.conversations())[0].status, 'snoozed')
  w.clock.advance(minuteMs)
  await Promise.all([wakeSnoozed(w.db, w.clock), wakeSnoozed(w.db, w.clock)])
  const [after] = await w.conversations()
  assert.deepEqual([after.status, after.snoozed_until], ['open', null])
})
