import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordAdTouches } from '../../src/leads/sources/ad-touches.ts'
import { eraseFacts } from '../../src/reports/erase.ts'
import { addLabel, customerMessage, marina } from '../support/inbox/inbox-world.ts'
import { leadsPath } from '../support/leads/leads.ts'
import { pick } from '../support/pick.ts'
import { countedRows, hour, minute, reportWorld } from './report-world.ts'

const rateCard = 'currency,market,category,price,valid_from\nUSD,Brazil,utility,0.0068,2026-01-01\n'

test('a report counts what happened, once, and compares it with the days before', async () => {
  const w = await reportWorld()
  const { id } = await w.newCustomer()
  w.clock.advance(10 * minute)
  await w.say(w.member, id)
  await w.setStatus(w.member, id, 'resolved')
  await w.count()
  await w.count()
  const { counts, times, waiting, days, from, to, beforeFrom } = await w.report(w.admin, '?days=7')
  assert.deepEqual([from, to, beforeFrom], ['2026-03-04', '2026-03-10', '2026-02-25'])
  const one = { now: 1, before: 0 }
  for (const number of ['new', 'new_by_customer', 'answers', 'answers_by_people', 'closed', 'closed_by_people']) {
    assert.deepEqual(counts[number], one, number)
  }
  assert.deepEqual([counts.reopened, counts.answers_by_agents, counts.leads], Array(3).fill({ now: 0, before: 0 }))
  assert.deepEqual(waiting, { forPeople: 0, forAgents: 0 })
  const median = times.answerOfPeople.now.medianSeconds
  assert.ok(Math.abs(median - 601) < 0.06 * 601, `${median} s`)
  assert.equal(times.answerOfAgents.now, null)
  assert.deepEqual(pick(days, 'date', 'new', 'closed').at(-1), ['2026-03-10', 1, 1])

  w.clock.advance(7 * 24 * hour)
  const later = await w.report(w.admin, '?days=7')
  assert.deepEqual(later.counts.new, { now: 0, before: 1 })
})

test('an event that arrives late changes its own day; a message that fails is no answer any more', async () => {
  const w = await reportWorld()
  const { id, phone } = await w.newCustomer()
  await w.setStatus(w.member, id, 'resolved')
  await w.count()
  w.clock.advance(14 * hour)
  // Written yesterday, before the closing, and delivered now.
  await w.writesAgain(phone, new Date(w.clock.now().getTime() - 14 * hour - 2000))
  await w.say(w.member, id)
  await w.count()
  const days = async () =>
    (await w.report(w.admin, '?days=7')).days.flatMap((day: { answersOfPeople: number; date: string }) =>
      day.answersOfPeople > 0 ? [day.date] : [],
    )
  assert.deepEqual(await days(), ['2026-03-11'])
  const [answer] = await w.counted('answers_by_people')
  assert.equal(answer.conversationId, id)
  await w.db.sql`update messages set status = 'failed' where workspace_id = ${w.workspaceId} and direction = 'outbound'`
  await w.writesAgain(phone)
  await w.count()
  assert.deepEqual(await days(), [])
})

test('each number is shown by connection, team, person, agent, label and source, and lists what it counts', async () => {
  const w = await reportWorld()
  const label = await addLabel(w, 'VIP')
  await w.lead({ phone: '5581980999001', source: 'ads', actualValue: 120, status: 'won' })
  w.clock.advance(1000)
  const { id } = await w.customerWrites('Hi', { customer: { ...marina, phone: '5581980999001' } })
  const team = (await w.admin.call('POST', '/teams', { name: 'Sales', assignment: 'manual', memberIds: [] })).body.team
    .id
  w.clock.advance(1000)
  await w.admin.call('PATCH', `/inbox/conversations/${id}`, { labelIds: [label], teamId: team })
  await w.say(w.member, id)
  // The answer was given while the team had the conversation.
  w.clock.advance(1000)
  await w.admin.call('PATCH', `/inbox/conversations/${id}`, { teamId: null })
  await w.newCustomer()
  await w.count()
  const counts = async (by: string) =>
    (await w.groups(by)).map((group: { id: string; counts: Record<string, { now: number }> }) => [
      group.id,
      group.counts.new?.now,
      group.counts.answers?.now,
      group.counts.leads?.now,
    ])
  assert.deepEqual(await counts('connection'), [[w.connectionId, 2, 1, 0]])
  assert.deepEqual(await counts('team'), [[team, 0, 1, 0]])
  assert.deepEqual(await counts('person'), [[w.member.userId, 0, 1, 0]])
  assert.deepEqual(await counts('label'), [[label, 1, 1, 0]])
  assert.deepEqual(await counts('source'), [['ads', 1, 1, 1]])
  assert.deepEqual(await counts('key'), [])
  const [ads] = await w.groups('source')
  assert.deepEqual(ads.leads, [{ status: 'won', count: 1, amount: '120.00' }])

  for (const [number, query, expected] of [
    ['new', '', 2],
    ['new', `&dimension=label&value=${label}`, 1],
    ['answers', `&dimension=person&value=${w.member.userId}`, 1],
    ['answers', `&dimension=team&value=${team}`, 1],
    ['leads_won', '&dimension=source&value=ads', 1],
    ['leads_won', '&dimension=source&value=website', 0],
  ] as const) {
    const items = await w.counted(number, query)
    assert.equal(items.length, expected, `${number} ${query}`)
    const filtered = await w.report(w.admin, query.replace('&', '?'))
    assert.equal(filtered.counts[number].now, expected, `${number} ${query}`)
  }
  const [lead] = await w.counted('leads')
  assert.deepEqual([lead.conversationId, lead.name], [null, 'Marina'])
})

test('the list of a number has pages, and refuses a cursor that is none', async () => {
  const w = await reportWorld()
  for (let n = 0; n < 55; n++) await w.lead()
  await w.count()
  const first = (await w.admin.call('GET', '/reports/counted?number=leads')).body
  assert.equal(first.items.length, 50)
  const second = (await w.admin.call('GET', `/reports/counted?number=leads&cursor=${first.nextCursor}`)).body
  assert.deepEqual([second.items.length, second.nextCursor], [5, null])
  assert.equal(new Set(pick([...first.items, ...second.items], 'id')).size, 55)
  assert.equal((await w.admin.call('GET', '/reports/counted?number=leads&cursor=abc')).status, 400)
})

test('members get no costs, and of people only their own numbers', async () => {
  const w = await reportWorld()
  const [mine, other] = [await w.newCustomer(), await w.newCustomer()]
  await w.say(w.member, mine.id)
  await w.say(w.admin, other.id)
  await w.count()
  const report = await w.report(w.member)
  assert.deepEqual([report.cost, report.costCurrency, report.counts.answers.now], [null, null, 2])
  assert.deepEqual(pick(await w.groups('person', w.member), 'id'), [w.member.userId])
  assert.deepEqual(pick(await w.groups('person'), 'id').sort(), [w.member.userId, w.admin.userId].sort())
  const query = (userId: string) => `dimension=person&value=${userId}`
  assert.equal((await w.member.call('GET', `/reports?${query(w.admin.userId)}`)).status, 403)
  assert.equal((await w.member.call('GET', `/reports/counted?number=answers&${query(w.admin.userId)}`)).status, 403)
  assert.equal((await w.report(w.member, `?${query(w.member.userId)}`)).counts.answers.now, 1)
})

test('a filter needs a value that its dimension can have', async () => {
  const w = await reportWorld()
  for (const query of ['?dimension=team', '?dimension=team&value=ads', '?days=367', '?from=2026-03-11&to=2026-03-10']) {
    assert.equal((await w.admin.call('GET', `/reports${query}`)).status, 400, query)
  }
  assert.equal((await w.report(w.admin, '?dimension=source&value=ads')).waiting, null)
})

test('costs are those of the ledger, also after another rate card', async () => {
  const w = await reportWorld()
  const { id, phone } = await w.newCustomer()
  const correlator = `${await w.pendingSend(id)}:1`
  const pricing = { type: 'regular', category: 'utility', isBillable: true, freeUntil: null } as const
  await w.deliver(w.status('wamid.cost', 'delivered', { correlator, customer: { ...marina, phone }, pricing }))
  await w.count()
  const unpriced = await w.report()
  assert.deepEqual([unpriced.cost, unpriced.costCurrency], [{ now: null, before: null, unpriced: 1 }, null])
  for (const price of ['0.0068', '0.0100']) {
    await w.admin.call('POST', '/rate-cards', { csv: rateCard.replace('0.0068', price) })
    await w.count()
    const { cost, costCurrency } = await w.report()
    const { total } = (await w.admin.call('GET', '/costs')).body
    assert.deepEqual([cost.now, cost.unpriced, costCurrency], [total.amount, 0, 'USD'])
    assert.equal((await w.groups('key'))[0].cost.now, total.amount)
  }
})

test('leads leave the numbers when they are deleted, and come back when they are restored', async () => {
  const w = await reportWorld()
  const { id } = await w.lead({ source: 'ads' })
  const leads = async () => {
    await w.count()
    return (await w.report()).counts.leads.now
  }
  assert.equal(await leads(), 1)
  await w.call('DELETE', `${leadsPath}/${id}`)
  assert.equal(await leads(), 0)
  assert.equal((await w.admin.call('POST', `/leads/${id}/restore`, {})).status, 200)
  assert.equal(await leads(), 1)
})

test('conversations that were merged count as one', async () => {
  const w = await reportWorld()
  const hidden = { userId: 'BR.9', parentUserId: null, phone: null, name: null }
  const older = await w.customerWrites('by phone')
  w.clock.advance(1000)
  const before = new Date(w.clock.now().getTime() - 500)
  await w.deliver(customerMessage({ at: before, customer: hidden }))
  await w.count()
  assert.equal((await w.report()).counts.new.now, 2)
  const both = { ...hidden, phone: marina.phone }
  await w.deliver(customerMessage({ at: w.clock.now(), customer: both }))
  await w.count()
  assert.equal((await w.report()).counts.new.now, 1)
  assert.deepEqual(pick(await w.counted('new'), 'conversationId'), [older.id])
})

test('another time zone of the business hours moves everything to its days', async () => {
  const w = await reportWorld()
  w.clock.set(new Date('2026-03-12T02:30:00Z'))
  await w.newCustomer()
  await w.count()
  const day = async () => (await w.report(w.admin, '?days=7')).days.find((one: { new: number }) => one.new > 0)?.date
  assert.equal(await day(), '2026-03-12')
  await w.db.sql`
    update workspaces
    set hours = ${w.db.sql.json({ timeZone: 'America/Sao_Paulo', week: {} })}
    where id = ${w.workspaceId}`
  await w.count()
  assert.equal(await day(), '2026-03-11')
})

test('what was counted of an erased customer stays, without the ids of their conversations and leads', async () => {
  const w = await reportWorld()
  const { id } = await w.newCustomer()
  const lead = await w.lead()
  await w.count()
  const before = await countedRows(w)
  const customer = {
    ...{ phones: [], emails: [], knownEmails: [], userIds: [], mergedIds: [] },
    ...{ leadIds: [lead.id], conversationIds: [id] },
  }
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const scope = { workspaceId: w.workspaceId, keyring, customer, createdBefore: w.clock.now(), now: w.clock.now() }
  await w.db.tx((tx) => eraseFacts(tx, scope))
  const after = await countedRows(w)
  assert.deepEqual(after.sums, before.sums)
  assert.equal(after.facts.length, before.facts.length)
  assert.ok(!JSON.stringify(after).includes(id) && !JSON.stringify(after).includes(lead.id))
})

test('only admins have everything counted again, which the audit log records', async () => {
  const w = await reportWorld()
  assert.equal((await w.member.call('POST', '/reports/rebuild', {})).status, 403)
  await w.newCustomer()
  await w.count()
  await w.db.sql`update report_rollups set count = count + 5 where workspace_id = ${w.workspaceId}`
  await w.db.sql`delete from report_facts where workspace_id = ${w.workspaceId}`
  assert.equal((await w.admin.call('POST', '/reports/rebuild', {})).status, 200)
  await w.count()
  const { counts, isComplete } = await w.report()
  assert.deepEqual([counts.new.now, isComplete], [1, true])
  assert.ok(pick((await w.admin.call('GET', '/audit')).body.entries, 'action').includes('reports.rebuilt'))
})

test('leads and the conversations of their customers are counted by the campaign or ad that first brought them', async () => {
  const w = await reportWorld()
  const [phone, other] = ['5581980999002', '5581980999003']
  const { id } = await w.lead({ phone, actualValue: 50, status: 'won' })
  await w.lead({ phone: other })
  await w.customerWrites('Hi', { customer: { ...marina, phone } })
  await w.count()
  assert.deepEqual(await w.groups('campaign'), [])
  const brought = (headline: string, campaign?: string, to = phone) => {
    w.clock.advance(1000)
    const url = campaign === undefined ? 'https://fb.me/x' : `https://shop.example/?utm_campaign=${campaign}`
    const referral = { ctwa_clid: 'c', source_id: '9', source_type: 'ad', source_url: url, headline }
    return recordAdTouches(w, w.workspaceId, [{ phone: to, referral }])
  }
  await brought('Spring sale', 'spring')
  await brought('Autumn', 'autumn')
  await brought('Only an ad', undefined, other)
  // A change that is no event is counted; the conversation follows with its next message.
  await w.writesAgain(phone)
  await w.count()
  const groups = await w.groups('campaign')
  assert.deepEqual(
    groups.map(({ name, counts, leads }: { name: string; counts: Counts; leads: object[] }) => [
      ...[name, counts.new?.now, counts.leads?.now],
      leads,
    ]),
    [
      ['spring', 1, 1, [{ status: 'won', count: 1, amount: '50.00' }]],
      ['Only an ad', 0, 1, [{ status: 'new', count: 1, amount: '0.00' }]],
    ],
  )
  const query = `dimension=campaign&value=${groups[0].id}`
  assert.equal((await w.report(w.member, `?${query}`)).campaign, 'spring')
  assert.deepEqual(pick(await w.counted('leads', `&${query}`), 'leadId'), [id])
  assert.deepEqual([...(await w.db.sql`select id from report_leads where workspace_id = ${w.workspaceId}`)], [])
})

test('leads are counted by the labels that they have now', async () => {
  const w = await reportWorld()
  const label = await addLabel(w, 'Big')
  const { id } = await w.lead()
  const leadsOf = async () => {
    await w.count()
    return (await w.groups('label')).map((group: { id: string; counts: Counts }) => [group.id, group.counts.leads?.now])
  }
  assert.deepEqual(await leadsOf(), [])
  const set = (labelIds: string[]) => w.member.call('PUT', `/leads/${id}/labels`, { labelIds })
  assert.equal((await set([label])).status, 200)
  assert.deepEqual(await leadsOf(), [[label, 1]])
  assert.equal((await set([])).status, 200)
  assert.deepEqual(await leadsOf(), [])
})

type Counts = Record<string, { now: number } | undefined>
