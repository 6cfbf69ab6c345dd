import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConnectionInfo, listAttention } from '../../src/stats/attention.ts'
import { customerMessage, type InboxWorld, inboxWorld } from '../support/inbox/inbox-world.ts'
import { leadsPath } from '../support/leads/leads.ts'
import { signedInMember, type TestMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'
import { world } from '../support/world.ts'

const hourMs = 3_600_000

async function inboxWithMember() {
  const w = await inboxWorld({ key: { scopes: ['leads.read', 'leads.write', 'inbox.read'] } })
  return { w, member: await signedInMember(w) }
}

async function stats(member: TestMember, query = '') {
  const { status, body } = await member.call('GET', `/stats${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('leads are counted exactly by days of the requested zone, without deleted ones', async () => {
  const w = await world()
  // 02:30 UTC is yesterday in São Paulo.
  w.clock.set(new Date('2026-03-12T02:30:00Z'))
  await w.lead({ source: 'ads' })
  await w.lead({ source: 'ads', status: 'won' })
  const { id: gone } = await w.lead()
  await w.call('DELETE', `${leadsPath}/${gone}`)
  w.clock.set(new Date('2026-03-12T03:00:00Z'))
  await w.lead({ source: 'website' })
  const member = await signedInMember(w)
  const inZone = await stats(member, '?days=3&tz=America/Sao_Paulo')
  const counts = (body: { days: { date: string; leads: number }[] }) => body.days.map((day) => [day.date, day.leads])
  assert.deepEqual(counts(inZone), [
    ['2026-03-10', 0],
    ['2026-03-11', 2],
    ['2026-03-12', 1],
  ])
  assert.equal(inZone.from, '2026-03-10T03:00:00.000Z')
  assert.deepEqual(inZone.leads, {
    total: 3,
    created: 3,
    bySource: [
      { source: 'ads', count: 2 },
      { source: 'website', count: 1 },
    ],
    byStatus: [
      { status: 'new', count: 2 },
      { status: 'won', count: 1 },
    ],
  })
  assert.deepEqual(counts(await stats(member, '?days=1')), [['2026-03-12', 3]])
  const today = await stats(member, '?days=1&tz=America/Sao_Paulo')
  assert.deepEqual([today.leads.created, today.leads.total], [1, 3])
  assert.equal((await stats(member)).days.length, 30)
  assert.deepEqual((await stats(member)).quota, { used: 4, limit: 100_000 })
})

test('an invalid zone or number of days is refused', async () => {
  const member = await signedInMember(await world())
  for (const [query, path] of [
    ['?tz=Mars/Olympus', 'tz'],
    ['?days=0', 'days'],
    ['?days=367', 'days'],
    ['?waitingMinutes=-1', 'waitingMinutes'],
  ]) {
    const { status, body } = await member.call('GET', `/stats${query}`)
    assert.deepEqual([status, body.data.issues[0].path], [400, path])
  }
})

type Actor = { type: 'agent' | 'user'; id: string } | null

/** An answer that the platform took, `minutes` after the last message; without an actor another app sent it. */
async function answer(w: InboxWorld, conversationId: string, minutes: number, actor: Actor): Promise<string> {
  w.clock.advance(minutes * 60_000)
  const id = await w.pendingSend(conversationId)
  await w.db.sql`
    update messages
    set status = 'sent',
      origin = ${actor === null ? 'echo' : 'live'},
      actor_type = ${actor?.type ?? null},
      actor_id = ${actor?.id ?? null}::uuid,
      occurred_at = ${w.clock.now()}
    where workspace_id = ${w.workspaceId}
      and id = ${id}`
  return id
}

test('answer times run from the first message of a customer to the first answer after it', async () => {
  const { w, member } = await inboxWithMember()
  const ana = { type: 'user', id: member.userId } as const
  const { id } = await w.customerWrites('Hello')
  w.clock.advance(60_000)
  // A second message does not begin a second wait.
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'Anyone?' }))
  await answer(w, id, 9, ana)
  // Nor does a second answer count.
  await answer(w, id, 50, ana)
  w.clock.advance(60_000)
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'And the blue one?' }))
  await answer(w, id, 30, ana)
  w.clock.advance(60_000)
  const { answers, days } = await stats(member, '?days=1')
  const people = { answers: 2, medianSeconds: 1200, p90Seconds: 600 + 0.9 * 1200 }
  assert.deepEqual(answers, { people, agents: null, otherApps: null, sampledEvery: 1 })
  assert.deepEqual(days[0].answers, { people, agents: null, otherApps: null })
})

test('answers are separated by answerer, and failed ones do not count', async () => {
  const { w, member } = await inboxWithMember()
  const { id } = await w.customerWrites('Hello')
  const failed = await answer(w, id, 5, { type: 'user', id: member.userId })
  await w.db.sql`update messages set status = 'failed' where id = ${failed}`
  await answer(w, id, 15, { type: 'agent', id: w.keyId })
  w.clock.advance(60_000)
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'And the blue one?' }))
  await answer(w, id, 2, null)
  w.clock.advance(60_000)
  assert.deepEqual((await stats(member)).answers, {
    people: null,
    agents: { answers: 1, medianSeconds: 1200, p90Seconds: 1200 },
    otherApps: { answers: 1, medianSeconds: 120, p90Seconds: 120 },
    sampledEvery: 1,
  })
})

test('waiting customers are counted after the requested minutes, in open conversations', async () => {
  const { w, member } = await inboxWithMember()
  const first = w.clock.now()
  await w.customerWrites('Hello')
  w.clock.advance(10 * 60_000)
  const other = { ...customerMessage({ at: first }).customer, phone: '5581991234568' }
  const { id } = await w.customerWrites('Hi', { customer: other })
  w.clock.advance(10 * 60_000)
  assert.deepEqual((await stats(member)).waiting, {
    minutes: 15,
    forPeople: 1,
    forAgents: 0,
    since: first.toISOString(),
  })
  const all = await stats(member, '?waitingMinutes=10')
  assert.equal(all.waiting.forPeople, 2)
  assert.deepEqual(all.attention, [
    { code: 'customers_waiting', id: null, name: null, at: first.toISOString(), count: 2, reason: null },
  ])
  await w.db.sql`update conversations set owner_key_id = ${w.keyId} where id = ${id}`
  assert.equal((await stats(member, '?waitingMinutes=5')).waiting.forAgents, 1)
  await w.db.sql`update conversations set status = 'resolved' where workspace_id = ${w.workspaceId}`
  const none = await stats(member, '?waitingMinutes=0')
  assert.deepEqual([none.waiting.forPeople, none.waiting.since, none.attention], [0, null, []])
})

test('attention lists expiring and expired keys, failing connections and webhooks, and the quota', async () => {
  const { w, member } = await inboxWithMember()
  const admin = await signedInMember(w, 'admin')
  const at = (hours: number) => new Date(w.clock.now().getTime() + hours * hourMs)
  const soon = await w.addKey({ name: 'Soon', expiresAt: at(13 * 24) })
  await w.addKey({ name: 'Later', expiresAt: at(15 * 24) })
  await w.db.sql`
    update connections
    set state = 'unavailable', state_reason = 'platform_error_190'
    where id = ${w.connectionId}`
  const made = await admin.call('POST', '/webhooks', { url: 'https://hooks.example.com/x', events: ['lead.*'] })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  await w.db.sql`
    update webhook_queues
    set failures_in_a_row = 7, failing_since = ${w.clock.now()}
    where workspace_id = ${w.workspaceId}`
  await w.db.sql`update workspaces set daily_lead_quota = 5, agents_stopped = true where id = ${w.workspaceId}`
  for (const _ of [1, 2, 3, 4]) await w.lead()
  const { attention } = await stats(member)
  assert.deepEqual(pick(attention, 'code', 'id', 'name', 'count', 'reason'), [
    ['agents_stopped', null, null, null, null],
    ['connection_unavailable', w.connectionId, 'Shop', null, 'platform_error_190'],
    ['webhook_failing', made.body.endpoint.id, null, 7, null],
    ['key_expiring', soon.id, 'Soon', null, null],
    ['quota_near', null, null, 4, null],
  ])
  await w.lead()
  assert.ok((await stats(member)).attention.some((one: { code: string }) => one.code === 'quota_reached'))
})

const standings: [what: string, one: Partial<ConnectionInfo>, code: string | null][] = [
  ['of which no phone was ever linked', { stateReason: 'never_paired' }, 'connection_not_set_up'],
  ['whose first phone is being linked', { stateReason: 'pairing' }, 'connection_not_set_up'],
  ['whose first code nobody scanned', { stateReason: 'pairing_ended' }, 'connection_not_set_up'],
  ['whose phone was unlinked before anything was written', { stateReason: 'logged_out' }, 'connection_unavailable'],
  [
    'that worked and is being linked again',
    { stateReason: 'pairing', lastEventAt: new Date(0) },
    'connection_unavailable',
  ],
  [
    'that worked and has lost its phone',
    { stateReason: 'reconnecting', lastEventAt: new Date(0) },
    'connection_unavailable',
  ],
  [
    'that its platform has refused from the first',
    { channel: 'waba', stateReason: 'platform_error_190' },
    'connection_unavailable',
  ],
  ['that is paused', { state: 'paused', stateReason: null }, null],
]

for (const [what, one, code] of standings)
  test(`a connection ${what} is ${code === 'connection_not_set_up' ? 'a hint' : code === null ? 'ignored' : 'a problem'}`, () => {
    const quiet = { agentsStopped: false, quota: { used: 0, limit: 0 }, waiting: [], webhooks: [], keys: [] }
    const connection: ConnectionInfo = {
      id: 'c',
      name: 'Shop',
      channel: 'unofficial',
      state: 'unavailable',
      stateReason: null,
      stateChangedAt: new Date(0),
      acknowledgedAt: null,
      lastEventAt: null,
      ...one,
    }
    const codes = listAttention({ ...quiet, connections: [connection] }, new Date(0)).map((found) => found.code)
    assert.deepEqual(codes, code === null ? [] : [code])
  })

test('the comparison has both periods, by answerer', async () => {
  const { w, member } = await inboxWithMember()
  const ana = { type: 'user', id: member.userId } as const
  const agent = { type: 'agent', id: w.keyId } as const
  const { id } = await w.customerWrites('Hello')
  await w.lead()
  await answer(w, id, 10, ana)
  w.clock.advance(2 * 24 * hourMs)
  await w.lead()
  await w.lead()
  for (const [minutes, actor] of [
    [20, ana],
    [2, agent],
    [1, null],
  ] as const) {
    await w.deliver(customerMessage({ at: w.clock.now(), text: 'And now?' }))
    await answer(w, id, minutes, actor)
    w.clock.advance(60_000)
  }
  // The other's session has ended meanwhile.
  const reader = await signedInMember(w)
  const { status, body } = await reader.call('GET', '/stats/comparison?days=2')
  assert.equal(status, 200, JSON.stringify(body))
  const times = (answers: number, seconds: number) => ({ answers, medianSeconds: seconds, p90Seconds: seconds })
  assert.deepEqual(body, {
    from: body.from,
    beforeFrom: new Date(Date.parse(body.from) - 2 * 24 * hourMs).toISOString(),
    now: { leads: 2, answers: { people: times(1, 1200), agents: times(1, 120), otherApps: times(1, 60) } },
    before: { leads: 1, answers: { people: times(1, 600), agents: null, otherApps: null } },
    sampledEvery: 1,
  })
  assert.equal((await reader.call('GET', '/stats/comparison?tz=Mars/Olympus')).status, 400)
  assert.equal((await reader.call('GET', '/stats/comparison?waitingMinutes=5')).status, 400)
  const stranger = await signedInMember(await world())
  const url = `/api/team/v1/workspaces/${w.workspaceId}/stats/comparison`
  assert.equal((await w.app.inject({ url, headers: { cookie: stranger.cookie } })).statusCode, 404)
  assert.equal((await w.app.inject({ url })).statusCode, 401)
  assert.equal((await stranger.call('GET', '/stats/comparison')).body.before.answers.people, null)
})

test('statistics contain no data of other workspaces and are not visible to them', async () => {
  const { w } = await inboxWithMember()
  await w.customerWrites('Hello')
  await w.lead()
  w.clock.advance(hourMs)
  const stranger = await signedInMember(await world())
  const body = await stats(stranger)
  assert.deepEqual([body.leads.total, body.waiting.forPeople, body.attention], [0, 0, []])
  const url = `/api/team/v1/workspaces/${w.workspaceId}/stats`
  assert.equal((await w.app.inject({ url, headers: { cookie: stranger.cookie } })).statusCode, 404)
  assert.equal((await w.app.inject({ url })).statusCode, 401)
})
