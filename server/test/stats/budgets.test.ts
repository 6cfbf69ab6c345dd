import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { agentsWorldWithTemplate, template } from '../support/agents/agents-world.ts'
import { conversationWorld, type InboxWorld, inboxWorld } from '../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'
import type { Answer } from '../support/world.ts'

const csv = 'currency,market,category,price,valid_from\nUSD,Brazil,service,0.5,2026-01-01\n'
const monthly = { scope: 'workspace', unit: 'messages', period: 'month', limit: '10' }

/** A workspace whose messages are all charged, with an admin. */
async function withAdmin<W extends InboxWorld>(w: W) {
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('PATCH', '/billing-settings', { freeServiceMessages: 0 })).status, 200)
  return { w, admin }
}

async function addBudget(admin: TestMember, settings: object = {}): Promise<Answer['body']> {
  const { status, body } = await admin.call('POST', '/budgets', { ...monthly, ...settings })
  assert.equal(status, 201, JSON.stringify(body))
  return body.budget
}

const list = async (admin: TestMember) => (await admin.call('GET', '/budgets')).body.budgets

const send = (member: TestMember, id: string, body: object = {}) =>
  member.call(
    'POST',
    `/inbox/conversations/${id}/messages`,
    { kind: 'text', text: 'Hello', ...body },
    {
      'idempotency-key': newId(new Date()),
    },
  )

test('admins create, change and delete budgets, which the audit log records', async () => {
  const { w, admin } = await withAdmin(await inboxWorld())
  assert.deepEqual(await list(admin), [])
  const budget = await addBudget(admin)
  assert.deepEqual(budget, {
    ...{ id: budget.id, scope: 'workspace', scopeId: null, unit: 'messages', currency: null, period: 'month' },
    ...{ limit: '10', used: '0', reserved: '0', resetsAt: '2026-04-01T00:00:00.000Z' },
  })
  const changed = await admin.call('PATCH', `/budgets/${budget.id}`, { limit: '25' })
  assert.deepEqual([changed.status, changed.body.budget.limit], [200, '25'])
  const connection = await addBudget(admin, { scope: 'connection', scopeId: w.connectionId, period: 'day' })
  const key = await addBudget(admin, { scope: 'key', scopeId: w.keyId })
  assert.deepEqual(
    (await list(admin)).map(({ id }: { id: string }) => id),
    [budget.id, connection.id, key.id],
  )
  for (const { id } of [budget, connection, key])
    assert.equal((await admin.call('DELETE', `/budgets/${id}`)).status, 200)
  assert.deepEqual(await list(admin), [])
  assert.equal((await admin.call('DELETE', `/budgets/${budget.id}`)).status, 404)
  assert.equal((await admin.call('PATCH', `/budgets/${budget.id}`, { limit: '1' })).status, 404)
  const { body } = await admin.call('GET', '/audit')
  const actions = JSON.stringify(body)
  for (const action of ['budget.created', 'budget.updated', 'budget.deleted']) assert.match(actions, new RegExp(action))
  const left = await w.db.sql`select from budget_counts where workspace_id = ${w.workspaceId}`
  assert.equal(left.length, 0)
})

const refusals: [what: string, settings: object, status: number, message: RegExp][] = [
  ['a limit of 0', { limit: '0.0' }, 400, /limit.*more than 0/],
  ['a limit that is no number', { limit: '1e3' }, 400, /limit/],
  ['part of a message', { limit: '1.5' }, 400, /whole number of messages/],
  ['an unknown scope', { scope: 'team' }, 400, /scope/],
  ['a connection without its id', { scope: 'connection' }, 400, /scopeId.*required/],
  ['a connection of nobody', { scope: 'connection', scopeId: newId(new Date()) }, 400, /id of a connection/],
  ['a key of nobody', { scope: 'key', scopeId: newId(new Date()) }, 400, /id of a/],
  ['a workspace with an id', { scopeId: newId(new Date()) }, 400, /scopeId.*must be null/],
  ['money without a rate card', { unit: 'money' }, 422, /RATE_CARD_REQUIRED/],
]
for (const [what, settings, status, message] of refusals) {
  test(`a budget is refused: ${what}`, async () => {
    const { admin } = await withAdmin(await inboxWorld())
    const answer = await admin.call('POST', '/budgets', { ...monthly, ...settings })
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    assert.match(JSON.stringify(answer.body), message)
    assert.deepEqual(await list(admin), [])
  })
}

test('there is one budget per scope, unit and period', async () => {
  const { admin } = await withAdmin(await inboxWorld())
  await addBudget(admin)
  await addBudget(admin, { period: 'day' })
  const again = await admin.call('POST', '/budgets', { ...monthly, limit: '99' })
  assert.deepEqual([again.status, again.body.data.field], [409, 'scope'])
})

test('prices that budgets in money need cannot be removed', async () => {
  const { admin } = await withAdmin(await inboxWorld())
  const { body } = await admin.call('POST', '/rate-cards', { csv })
  const budget = await addBudget(admin, { unit: 'money', limit: '12.5' })
  assert.deepEqual([budget.currency, budget.limit], ['USD', '12.5'])
  const removal = () => admin.call('DELETE', `/rate-cards/${body.rateCards[0].id}`)
  const refused = await removal()
  assert.deepEqual([refused.status, refused.body.data.code], [409, 'BUDGETS_EXIST'])
  assert.equal((await admin.call('PATCH', '/billing-settings', { currency: 'BRL' })).status, 409)
  assert.equal((await admin.call('PATCH', '/billing-settings', { currency: 'USD' })).status, 200)
  await admin.call('DELETE', `/budgets/${budget.id}`)
  assert.equal((await removal()).status, 200)
})

test('members and strangers see and change no budgets', async () => {
  const { w, admin } = await withAdmin(await inboxWorld())
  const { id } = await addBudget(admin)
  const member = await signedInMember(w)
  assert.equal((await member.call('GET', '/budgets')).status, 403)
  assert.equal((await member.call('POST', '/budgets', monthly)).status, 403)
  assert.equal((await member.call('PATCH', `/budgets/${id}`, { limit: '1' })).status, 403)
  assert.equal((await member.call('DELETE', `/budgets/${id}`)).status, 403)
  const { admin: stranger } = await withAdmin(await inboxWorld())
  assert.deepEqual(await list(stranger), [])
  assert.equal((await stranger.call('DELETE', `/budgets/${id}`)).status, 404)
})

test('people are asked before they send over budget, and the thread says who did', async () => {
  const { w, member, id } = await conversationWorld()
  const { admin } = await withAdmin(w)
  const budget = await addBudget(admin, { limit: '1' })
  assert.equal((await send(member, id)).status, 202)
  const asked = await send(member, id)
  assert.deepEqual([asked.status, asked.body.data.code, asked.body.data.budget.id], [409, 'BUDGET_REACHED', budget.id])
  assert.match(asked.body.statusMessage, /1 .* of 1 .*over_budget/)
  assert.equal((await send(member, id, { over_budget: false })).status, 409)
  assert.equal((await send(member, id, { over_budget: 'yes' })).status, 400)
  assert.equal((await send(member, id, { over_budget: true })).status, 202)
  const { body } = await member.call('GET', `/inbox/conversations/${id}/timeline`)
  const activities = body.items.flatMap(({ activity }: { activity?: { kind: string; actor: { id: string } } }) =>
    activity?.kind === 'over_budget' ? activity.actor.id : [],
  )
  assert.deepEqual(activities, [member.userId])
  w.clock.advance(60_000)
  const [shown] = await list(admin)
  assert.deepEqual([shown.limit, shown.used, shown.reserved], ['1', '2', '2'])
})

test('the team is notified once at 80 % and once when it is used up', async () => {
  const { w, member, id } = await conversationWorld()
  const { admin } = await withAdmin(w)
  await addBudget(admin, { limit: '5' })
  const notified = async () =>
    (await admin.call('GET', '/notices')).body.notices
      .flatMap(({ kind, reason }: { kind: string; reason: string }) => (kind === 'budget' ? reason : []))
      .sort()
  const counts: string[][] = []
  for (let n = 0; n < 7; n++) {
    await send(member, id, { over_budget: n === 6 })
    counts.push(await notified())
  }
  assert.deepEqual(counts, [
    [],
    [],
    [],
    ['warned'],
    ['reached', 'warned'],
    ['reached', 'warned'],
    ['reached', 'warned'],
  ])
})

test('agents are refused with the budget, and who_am_i says what is left', async () => {
  const { w, admin } = await withAdmin(await agentsWorldWithTemplate())
  const other = await w.addKey({ scopes: ['inbox.write'] })
  await addBudget(admin, { scope: 'key', scopeId: w.agent.id, limit: '2' })
  await addBudget(admin, { scope: 'key', scopeId: other.id })
  const { id: conversation_id } = await w.customerWrites('Hello')
  const left = async () => (await w.callTool('who_am_i')).body.limits.budgets
  const resets_at = '2026-04-01T00:00:00.000Z'
  assert.deepEqual(await left(), [{ scope: 'key', left: '2', unit: 'messages', resets_at }])
  await w.callTool('answer', { conversation_id, text: 'One.' })
  await w.callTool('answer', { conversation_id, text: 'Two.' })
  assert.deepEqual(await left(), [{ scope: 'key', left: '0', unit: 'messages', resets_at }])
  const refused = await w.callTool('answer', { conversation_id, text: 'Three.' })
  assert.deepEqual([refused.status, refused.body.code, refused.body.budget.scope], [429, 'BUDGET_REACHED', 'key'])
  assert.ok(Number(refused.headers['retry-after']) > 86_400)
  assert.match(refused.body.next.join(' '), /resets_at.*hand_over/)
  const started = await w.callTool('start_conversation', {
    connection_id: w.connectionId,
    phone: '5511999990001',
    template,
  })
  assert.equal(started.body.code, 'BUDGET_REACHED')
  assert.equal((await w.conversations({ phone: '5511999990001' })).length, 0, 'no empty conversation is left behind')
  const handed = await w.callTool('hand_over', { conversation_id, summary: 'Out of budget.' })
  assert.equal(handed.status, 200)
})

test('a conversation that is begun over budget is created only after a person has confirmed', async () => {
  const { w, admin } = await withAdmin(await agentsWorldWithTemplate())
  await addBudget(admin, { scope: 'connection', scopeId: w.connectionId, limit: '1' })
  const phone = '5511999990002'
  const start = (more: object = {}) =>
    admin.call(
      'POST',
      '/inbox/conversations',
      { connection_id: w.connectionId, phone, template, ...more },
      {
        'idempotency-key': newId(new Date()),
      },
    )
  assert.equal((await start()).status, 202)
  const other = { phone: '5511999990003' }
  const asked = await start(other)
  assert.deepEqual([asked.status, asked.body.data.code], [409, 'BUDGET_REACHED'])
  assert.equal((await w.conversations(other)).length, 0)
  const confirmed = await start({ ...other, over_budget: true })
  assert.deepEqual([confirmed.status, confirmed.body.began], [202, true])
})
