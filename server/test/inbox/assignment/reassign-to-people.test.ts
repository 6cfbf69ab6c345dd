import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  reassignFromEndedKeys,
  reassignFromExpiredKeys,
  reassignOverdue,
} from '../../../src/inbox/assignment/reassign-to-people.ts'
import { reopenSnoozed } from '../../../src/inbox/assignment/snooze-timer.ts'
import { addAgent, conversationPath, customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const minuteMs = 60_000

async function owned(settings: Parameters<typeof addAgent>[1] = {}) {
  const w = await inboxWorld()
  const agent = await addAgent(w, settings)
  const { id } = await w.customerWrites('Hi')
  const owner = async () => (await w.call('GET', conversationPath(id))).body.conversation.owner
  /** A conversation taken from an agent is locked to people: no agent can take it by itself. */
  const isLockedToPeople = async () => {
    const [row] = await w.db.sql`select held from conversations where workspace_id = ${w.workspaceId} and id = ${id}`
    assert.deepEqual([await owner(), row?.held], ['human', true])
  }
  const changes = async () =>
    (await w.events(id)).filter((event) => event.name === 'inbox.conversation.owner_changed').slice(1)
  assert.equal(await owner(), `agent:${agent.id}`)
  return { w, agent, id, owner, isLockedToPeople, changes }
}

type Ending = (made: Awaited<ReturnType<typeof owned>>, admin: TestMember) => Promise<{ status: number }>

const endings: [what: string, end: Ending][] = [
  ['is revoked', ({ agent }, admin) => admin.call('DELETE', `/keys/${agent.id}`)],
  [
    'is revoked with the member who created it',
    async ({ w, agent }, admin) => {
      const maker = await signedInMember(w, 'admin')
      await w.db.sql`update api_keys set created_by = ${maker.userId} where id = ${agent.id}`
      return admin.call('DELETE', `/members/${maker.userId}?keys=revoke`)
    },
  ],
  ['loses inbox.write', ({ agent }, admin) => admin.call('PATCH', `/keys/${agent.id}`, { scopes: ['inbox.read'] })],
  [
    'can no longer see the connection',
    async ({ w, agent, owner }, admin) => {
      const other = await w.addConnection()
      const change = (connectionIds: string[]) => admin.call('PATCH', `/keys/${agent.id}`, { connectionIds })
      await change([w.connectionId, other])
      assert.equal(await owner(), `agent:${agent.id}`, 'what it goes on to see stays its own')
      return change([other])
    },
  ],
]

for (const [what, end] of endings) {
  test(`when the owning key ${what} the conversation goes to people in the same step, with one event`, async () => {
    const made = await owned()
    assert.equal((await end(made, await signedInMember(made.w, 'owner'))).status, 200)
    await made.isLockedToPeople()
    assert.deepEqual(
      (await made.changes()).map(({ payload }) => payload.actor),
      [{ type: 'system', id: null }],
    )
    assert.equal((await made.w.customerWrites('Anybody?')).owner, 'human')
  })
}

for (const [when, lateMs, give] of [
  ['at once', 0, reassignFromExpiredKeys],
  ['an hour later, after an outage of the workers', 59 * minuteMs, reassignFromEndedKeys],
] as const) {
  test(`when the owning key expires its conversations go to people, each with one event: ${when}`, async () => {
    const w = await inboxWorld()
    const { w: _, ...mine } = await owned({ expiresAt: new Date(w.clock.now().getTime() + minuteMs) })
    await reassignFromExpiredKeys(w.db, w.keyStore, w.clock)
    assert.notEqual(await mine.owner(), 'human')
    w.clock.advance(minuteMs + lateMs)
    await Promise.all([give(w.db, w.keyStore, w.clock), give(w.db, w.keyStore, w.clock)])
    await mine.isLockedToPeople()
    assert.equal((await mine.changes()).length, 1)
  })
}

test('the stop switch assigns everything to people, and nothing goes to an agent until it is off', async () => {
  const { w, agent, id, isLockedToPeople, changes } = await owned()
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('PATCH', '', { agentsStopped: true })).status, 200)
  await isLockedToPeople()
  assert.deepEqual(
    (await changes()).map(({ payload }) => payload.actor),
    [{ type: 'user', id: admin.userId }],
  )
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, phone: '5511988887777' } }))
  assert.equal((await w.conversations({ phone: '5511988887777' }))[0].owner, 'human')
  const taken = await w.patch(id, { owner: `agent:${agent.id}` }, agent.value)
  assert.deepEqual([taken.status, taken.body.data], [403, { code: 'OWNER_FORBIDDEN' }])
  await admin.call('PATCH', '', { agentsStopped: false })
  assert.equal((await w.patch(id, { owner: `agent:${agent.id}` }, agent.value)).status, 200)
})

test('the watchdog assigns to people what an agent has left unanswered for too long', async () => {
  const { w, id, owner, isLockedToPeople, changes } = await owned()
  const admin = await signedInMember(w, 'admin')
  const look = () => reassignOverdue(w.db, w.keyStore, w.clock)
  w.clock.advance(9 * minuteMs)
  await look()
  await admin.call('PATCH', '', { agentWatchdogMinutes: 10 })
  await look()
  assert.notEqual(await owner(), 'human')
  w.clock.advance(minuteMs)
  await Promise.all([look(), look()])
  await isLockedToPeople()
  assert.equal((await changes()).length, 1)
  const again = await signedInMember(w)
  const agent = (await w.events(id))[0]?.payload.owner as string
  await again.call('POST', `/inbox/conversations/${id}/hand-back`, { keyId: agent.replace('agent:', '') })
  await look()
  assert.equal(await owner(), agent)
})

test('a snoozed conversation reopens on time', async () => {
  const { w, id } = await owned()
  const member = await signedInMember(w)
  const snoozedUntil = new Date(w.clock.now().getTime() + minuteMs).toISOString()
  await member.call('PATCH', `/inbox/conversations/${id}`, { status: 'snoozed', snoozedUntil })
  await reopenSnoozed(w.db, w.keyStore, w.clock)
  assert.equal((await w.conversations())[0].status, 'snoozed')
  w.clock.advance(minuteMs)
  const reopen = () => reopenSnoozed(w.db, w.keyStore, w.clock)
  await Promise.all([reopen(), reopen()])
  const [after] = await w.conversations()
  assert.deepEqual([after.status, after.snoozed_until], ['open', null])
})
