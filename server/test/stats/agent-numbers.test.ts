import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pricing } from '../../src/channels/channel-event.ts'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'

const hour = 3_600_000
const csv = 'currency,market,category,price,valid_from\nUSD,Brazil,utility,0.0068,2026-01-01\n'
const priced: Pricing = { type: 'regular', category: 'utility', isBillable: true, freeUntil: null }

async function customer(w: AgentsWorld, n: number): Promise<string> {
  const { id } = await w.customerWrites('Where is it?', { customer: { ...marina, phone: `55819912345${10 + n}` } })
  w.clock.advance(1000)
  return id
}

async function answer(w: AgentsWorld, conversation_id: string): Promise<void> {
  await w.callTool('read_conversation', { conversation_id })
  const { status, body } = await w.callTool('answer', { conversation_id, text: 'It left this morning.' })
  assert.equal(status, 200, JSON.stringify(body))
  w.clock.advance(1000)
}

async function numbersOf(admin: TestMember, query = '') {
  const { status, body } = await admin.call('GET', `/agent-numbers${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('what agents, people and customers do over HTTP becomes numbers, with lists behind them', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const [resolved, taken, handed] = [await customer(w, 1), await customer(w, 2), await customer(w, 3)]
  for (const id of [resolved, taken, handed]) await answer(w, id)
  await admin.call('PATCH', `/inbox/conversations/${resolved}`, { status: 'resolved' })
  await w.takeOver(taken)
  const note = { summary: 'Wants a refund.', reason: 'Refund' }
  const gone = await w.callTool('hand_over', { conversation_id: handed, ...note })
  assert.equal(gone.status, 200, JSON.stringify(gone.body))

  const early = await numbersOf(admin)
  assert.deepEqual([early.agents.length, early.agents[0].outcomes.recent], [1, 1])
  w.clock.advance(73 * hour)
  const { timeZone, answerMinutes, agents } = await numbersOf(admin)
  const [one] = agents
  assert.deepEqual([timeZone, answerMinutes, one.keyId, one.cases, one.answered], ['UTC', null, w.agent.id, 3, 3])
  const { resolved: done, taken_over, handed_over, recent, silent } = one.outcomes
  assert.deepEqual([done, taken_over, handed_over, recent, silent], [1, 1, 1, 0, 0])
  assert.deepEqual(one.days.length, 1)
  assert.deepEqual([one.versions.length, one.versions[0].version, one.versions[0].cases], [1, null, 3])

  const list = async (number: string) =>
    (await admin.call('GET', `/agent-numbers/${w.agent.id}/conversations?number=${number}`)).body
  const found = await list('taken_over')
  assert.deepEqual(
    [found.conversations.map((each: { conversationId: string }) => each.conversationId), found.nextCursor],
    [[taken], null],
  )
  assert.equal(found.conversations[0].name, 'Marina Duarte')
  assert.equal((await list('answered')).conversations.length, 3)
  const reasons = await admin.call('GET', `/agent-numbers/${w.agent.id}/reasons`)
  assert.deepEqual(reasons.body, { handovers: [{ reason: 'Refund', count: 1 }], rejections: [] })
})

test('drafts are counted by what people decided, with how much they changed and why they rejected', async () => {
  const approval = { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null }
  const w = await agentsWorld({ approval })
  const admin = await signedInMember(w, 'admin')
  const decide = async (n: number, how: 'approve' | 'reject', body: object) => {
    const id = await customer(w, n)
    await w.callTool('read_conversation', { conversation_id: id })
    await w.callTool('answer', { conversation_id: id, text: 'It left this morning early' })
    const { draft } = (await admin.call('GET', `/inbox/conversations/${id}/draft`)).body
    const { status } = await admin.call('POST', `/inbox/conversations/${id}/drafts/${draft.id}/${how}`, body)
    assert.ok(status < 300, `${status}`)
    w.clock.advance(1000)
    return id
  }
  await decide(1, 'approve', {})
  await decide(2, 'approve', { text: 'It left this evening late' })
  const rejected = await decide(3, 'reject', { reason: 'Ask for the order first.' })
  const [{ drafts }] = (await numbersOf(admin)).agents
  assert.deepEqual(
    [drafts.sent, drafts.edited, drafts.rejected, drafts.open, drafts.distance],
    [1, 1, 1, 0, Math.fround(0.4)],
  )
  const path = `/agent-numbers/${w.agent.id}`
  const list = await admin.call('GET', `${path}/conversations?number=draft_rejected`)
  assert.deepEqual(
    list.body.conversations.map((each: { conversationId: string }) => each.conversationId),
    [rejected],
  )
  const { rejections } = (await admin.call('GET', `${path}/reasons`)).body
  assert.deepEqual(rejections, [{ reason: 'Ask for the order first.', count: 1 }])
})

test('the cost of a resolved case is unknown until there is a price, and never zero', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const id = await customer(w, 1)
  await answer(w, id)
  await admin.call('PATCH', `/inbox/conversations/${id}`, { status: 'resolved' })
  const cost = async () => (await numbersOf(admin)).agents[0].cost
  const unknown = { messages: 0, unknown: 0, unpriced: 0, amount: null, perResolved: null }
  assert.deepEqual(await cost(), unknown)
  const [message] = await w.db.sql<{ externalIndex: Buffer }[]>`
    select external_index as "externalIndex"
    from messages
    where workspace_id = ${w.workspaceId}
      and actor_id = ${w.agent.id}`
  await w.db.sql`
    insert into message_charges (
      workspace_id, connection_id, external_index, conversation_id, actor_type, actor_id, country, type, category, step,
      delivered, charged_at
    )
    values (
      ${w.workspaceId}, ${w.connectionId}, ${message?.externalIndex ?? Buffer.alloc(16)}, ${id}, 'agent', ${w.agent.id},
      'BR', ${priced.type}, ${priced.category}, 2, true, ${w.clock.now()}
    )`
  assert.deepEqual(await cost(), { ...unknown, messages: 1, unpriced: 1 })
  await admin.call('POST', '/rate-cards', { csv })
  assert.deepEqual(await cost(), { ...unknown, messages: 1, amount: '0.0068', perResolved: '0.0068' })
})

const refusals: [query: string, message: RegExp][] = [
  ['?from=2025-11-01', /^from must be at most 92 days before to/],
  ['?from=2026-03-10&to=2026-03-01', /^from must not be after to/],
  ['?from=2026-02-31', /^from must be a day such as/],
  ['?days=93', /days/],
]

for (const [query, message] of refusals) {
  test(`numbers refuse ${query}`, async () => {
    const w = await agentsWorld()
    const admin = await signedInMember(w, 'admin')
    const { status, body } = await admin.call('GET', `/agent-numbers${query}`)
    assert.equal(status, 400)
    const [{ path, message: words }] = body.data.issues
    assert.match(`${path} ${words}`, message)
  })
}

test('days are those of the business hours, and a period ends with its last day', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const day = [{ from: '09:00', to: '18:00' }]
  const week = { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day, saturday: [], sunday: [] }
  await w.db.sql`
    update workspaces
    set hours = ${w.db.sql.json({ timeZone: 'America/Sao_Paulo', week })}
    where id = ${w.workspaceId}`
  const id = await customer(w, 1)
  await answer(w, id)
  // 02:00 UTC is still the day before in São Paulo.
  const night = new Date(w.clock.now().getTime() + 24 * hour)
  night.setUTCHours(2, 0, 0, 0)
  w.clock.set(night)
  await w.takeOver(id)
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const [evening, next] = [dayOf(night.getTime() - 24 * hour), dayOf(night.getTime())]
  const { timeZone, agents } = await numbersOf(admin, `?to=${evening}&days=1`)
  const dates = agents[0].days.map(({ date }: { date: string }) => date)
  assert.deepEqual([timeZone, dates], ['America/Sao_Paulo', [evening]])
  assert.deepEqual((await numbersOf(admin, `?to=${next}&days=1`)).agents, [])
})
