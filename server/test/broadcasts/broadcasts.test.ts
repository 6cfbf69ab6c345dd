import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setConsentOfPhones } from '../../src/inbox/consent/set-consent.ts'
import { addAgent } from '../support/inbox/inbox-world.ts'
import { type BroadcastWorld, broadcastWorld, drainFor, hour, minute, variant } from './broadcast-world.ts'

const csv = 'currency,market,category,price,valid_from\nUSD,Brazil,marketing,0.0625,2026-01-01\n'
const customerOf = (phone: string) => ({ userId: null, parentUserId: null, phone, name: null })

const optOut = (w: BroadcastWorld, phone: string) =>
  setConsentOfPhones(w, w.workspaceId, { type: 'user', id: w.admin.userId }, [phone], 'opted_out')

test('before anyone confirms, the counts say who is left out and why, and an unknown price stays unknown', async () => {
  const w = await broadcastWorld()
  await w.admin.call('POST', '/rate-cards', { csv })
  const [first = '', out = '', wrote = ''] = await w.addLeads(3)
  await w.addLeads(1, { phone: first })
  await w.addLeads(1, { phone: null })
  await w.addLeads(1, { phone: '12025550123' })
  await w.addLeads(1, { phone: '4915112345678' })
  await optOut(w, out)
  const earlier = await w.prepare({
    audience: { filter: { search: wrote }, viewName: null },
    variants: [variant('update')],
  })
  await w.start(earlier.id)
  await drainFor(w, 4_000)
  assert.equal(w.sentTo(wrote), 1)
  const lastName = { from: 'field', value: 'lastName' }
  const { id, counts, cost, state } = await w.prepare({ options: { quietDays: 2, optInOnly: false, perMinute: null } })
  assert.equal(state, 'ready')
  assert.deepEqual(counts, {
    ...{ leads: 7, included: 2 },
    excluded: { opted_out: 1, recently_written: 1, duplicate: 1, no_number: 1, country: 1 },
  })
  assert.deepEqual(cost, { amount: '0.0625', currency: 'USD', unpriced: 1 })
  assert.equal((await w.member.call('GET', `/broadcasts/${id}`)).body.broadcast.cost, null, 'costs are for admins')
  const incomplete = await w.prepare({ variants: [{ ...variant(), body: [lastName] }] })
  assert.deepEqual(incomplete.counts.excluded, { missing_value: 6, no_number: 1 })
  assert.equal((await w.admin.call('POST', `/broadcasts/${incomplete.id}/start`, {})).status, 409, 'nobody is left')
})

test('budgets leave out whom they do not allow, as counted before', async () => {
  const w = await broadcastWorld()
  await w.addLeads(5)
  const budget = { scope: 'workspace', scopeId: null, unit: 'messages', period: 'month', limit: '3' }
  assert.equal((await w.admin.call('POST', '/budgets', budget)).status, 201)
  const { id, counts } = await w.prepare()
  assert.deepEqual([counts.included, counts.excluded], [3, { over_budget: 2 }])
  await w.start(id)
  await drainFor(w, 4_000)
  assert.equal((await w.read(id)).results.variants[0].accepted, 3)
})

test('two processes send to everyone once, at the pace, and results follow from what customers do', async () => {
  const w = await broadcastWorld()
  await w.admin.call('POST', '/rate-cards', { csv })
  const phones = await w.addLeads(12, { firstName: 'Ana' })
  const { id } = await w.prepare({ options: { quietDays: 0, optInOnly: false, perMinute: 60 } })
  await w.start(id)
  const nodes = [w.nodeWith((_, work) => work()), w.nodeWith((_, work) => work())]
  await w.drain()
  await Promise.all(nodes.map((node) => node.drain()))
  assert.equal(w.accepted().length, 2, 'two seconds of sixty a minute')
  await drainFor(w, 15_000, 1_000)
  assert.deepEqual(
    phones.map((phone) => w.sentTo(phone)),
    phones.map(() => 1),
  )
  assert.deepEqual([...new Set(w.accepted().map(({ text }) => text))], ['Ana'])
  const [read = '', wrote = '', stopped = '', failed = ''] = phones
  const pricing = { type: 'regular', category: 'marketing', isBillable: true, freeUntil: null } as const
  for (const { to, externalId } of w.accepted()) {
    const customer = customerOf(to ?? '')
    if (to === failed) await w.deliver(w.status(externalId, 'failed', { errorCode: '131049', customer }))
    else await w.deliver(w.status(externalId, to === read ? 'read' : 'delivered', { pricing, customer }))
  }
  await w.customerWrites('Yes, please', { customer: customerOf(wrote) })
  await w.customerWrites('STOP', { customer: customerOf(stopped) })
  w.clock.advance(minute)
  await w.drain()
  const { state, results } = await w.read(id)
  const [totals] = results.variants
  assert.equal(state, 'done')
  assert.deepEqual(
    [totals.accepted, totals.delivered, totals.read, totals.failed, totals.answered, totals.optedOut, totals.charged],
    [11, 11, 1, 1, 2, 1, 11],
  )
  assert.deepEqual(results.reasons, [{ status: 'failed', reason: '131049', count: 1 }])
  assert.deepEqual(results.cost, { amount: '0.6875', currency: 'USD', unpriced: 0 })
  const ledger = (await w.admin.call('GET', '/costs?by=sender')).body
  assert.deepEqual(
    ledger.groups.map((one: { key: string; amount: string }) => [one.key, one.amount]),
    [[`system:${id}`, '0.6875']],
  )
  const file = await w.app.inject({
    url: `/api/team/v1/workspaces/${w.workspaceId}/broadcasts/${id}/export`,
    headers: w.admin.headers,
  })
  const lines = file.body.trim().split('\r\n')
  assert.equal(lines.length, 13)
  assert.equal(lines.filter((line) => line.includes('"131049"')).length, 1)
  assert.equal((await w.member.call('GET', `/broadcasts/${id}/export`)).status, 403)
})

test('an opt-out while it runs is honoured, whenever it comes', async () => {
  const w = await broadcastWorld()
  const phones = await w.addLeads(6)
  const { id } = await w.prepare({ options: { quietDays: 0, optInOnly: false, perMinute: 30 } })
  await w.start(id)
  await w.drain()
  await w.drain()
  const waiting = phones.filter((phone) => w.sentTo(phone) === 0)
  assert.equal(waiting.length, 5)
  for (const phone of waiting.slice(0, 3)) await optOut(w, phone)
  await drainFor(w, 20_000)
  assert.deepEqual(
    waiting.map((phone) => w.sentTo(phone)),
    [0, 0, 0, 1, 1],
  )
  const skipped = (await w.recipients(id)).filter((one: { status: string }) => one.status === 'skipped')
  assert.deepEqual(
    skipped.map((one: { reason: string }) => one.reason),
    ['opted_out', 'opted_out', 'opted_out'],
  )
})

test('who was refused with 131049 gets nothing of a broadcast for 24 hours, also if it was frozen before', async () => {
  const w = await broadcastWorld()
  const [phone = ''] = await w.addLeads(1)
  const [first, frozen] = [await w.prepare(), await w.prepare()]
  await w.start(first.id)
  await drainFor(w, 2_000)
  const [{ externalId } = { externalId: '' }] = w.accepted().slice(-1)
  await w.deliver(w.status(externalId, 'failed', { errorCode: '131049', customer: customerOf(phone) }))
  await w.start(frozen.id)
  await drainFor(w, 2_000)
  const [{ reason }] = await w.recipients(frozen.id)
  assert.equal(reason, 'recently_refused')
  assert.deepEqual((await w.prepare()).counts.excluded, { recently_refused: 1 })
  w.clock.advance(24 * hour)
  const later = await w.prepare()
  assert.equal(later.counts.included, 1)
  assert.equal(w.sentTo(phone), 1, 'it is not tried again by itself')
})

test('a drop of quality, a restriction and a payment error pause it, who started it is notified, and people resume it', async () => {
  const w = await broadcastWorld()
  await w.setNumber({ quality: 'green' })
  await w.addLeads(8)
  const { id } = await w.prepare({ options: { quietDays: 0, optInOnly: false, perMinute: 30 } })
  await w.start(id)
  await w.drain()
  await w.setNumber({ quality: 'yellow' })
  await drainFor(w, 10_000)
  const before = w.accepted().length
  assert.deepEqual([(await w.read(id)).state, (await w.read(id)).reason], ['paused', 'quality'])
  const { notices } = (await w.admin.call('GET', '/notices')).body
  assert.deepEqual(
    notices.map((one: { kind: string; reason: string }) => [one.kind, one.reason]),
    [['broadcast', 'quality']],
  )
  assert.equal((await w.second.call('GET', '/notices')).body.notices.length, 0)
  await w.setNumber({ quality: 'red' })
  assert.equal((await w.admin.call('POST', `/broadcasts/${id}/resume`, {})).status, 409)
  await w.setNumber({ quality: 'yellow' })
  await w.control(id, 'resume')
  await drainFor(w, 4_000)
  assert.ok(w.accepted().length > before)
  w.platform.behave = () => ({ refuse: '131042', effect: 'billable_held' })
  await drainFor(w, 4_000)
  assert.deepEqual([(await w.read(id)).state, (await w.read(id)).reason], ['paused', 'payment'])
  w.platform.behave = () => undefined
})

test('many opt-outs pause it once, and nobody is left without a reason when it is cancelled', async () => {
  const w = await broadcastWorld()
  const phones = await w.addLeads(60)
  const { id } = await w.prepare({ options: { quietDays: 0, optInOnly: false, perMinute: 1_500 } })
  await w.start(id)
  await drainFor(w, 6_000)
  assert.equal((await w.read(id)).state, 'done')
  const more = await w.addLeads(20)
  const second = await w.prepare({ options: { quietDays: 0, optInOnly: false, perMinute: 1_600 } })
  await w.start(second.id)
  await w.drain()
  const both = phones.filter((phone) => w.sentTo(phone) === 2)
  for (const phone of both.slice(0, 3)) await w.customerWrites('STOP', { customer: customerOf(phone) })
  w.clock.advance(11_000)
  await w.drain()
  const paused = await w.read(second.id)
  assert.deepEqual([paused.state, paused.reason], ['paused', 'complaints'])
  await w.control(second.id, 'cancel')
  await drainFor(w, 2_000)
  const { results, counts } = await w.read(second.id)
  const [{ accepted, skipped, pending }] = results.variants
  assert.deepEqual([accepted + skipped, pending, counts.included], [80, 0, 80])
  assert.deepEqual(
    more.map((phone) => w.sentTo(phone) <= 1),
    more.map(() => true),
  )
})

test('with approval, a second admin must approve; agents, tokens and members only prepare', async () => {
  const w = await broadcastWorld()
  await w.addLeads(1)
  assert.equal((await w.admin.call('PUT', '/broadcast-settings', { approval: true })).status, 200)
  const { value } = await w.addKey({ scopes: ['inbox.write', 'inbox.read', 'leads.read'] })
  const body = {
    ...{ name: 'From an agent', connection_id: w.connectionId, template_name: 'sale', template_language: 'en' },
    variables: ['firstName|there'],
  }
  const prepared = await w.call('POST', '/api/v2/broadcasts', { body, key: value })
  assert.equal(prepared.status, 200, JSON.stringify(prepared.body))
  const id = prepared.body.broadcast_id
  const { createdBy, variants } = await w.read(id)
  assert.deepEqual(
    [createdBy.type, variants[0].body],
    ['agent', [{ from: 'field', value: 'firstName', fallback: 'there' }]],
  )
  await w.member.call('POST', `/broadcasts/${id}/count`, {})
  await w.drain()
  const start = (who: BroadcastWorld['admin']) => who.call('POST', `/broadcasts/${id}/start`, {})
  assert.equal((await start(w.member)).status, 403)
  const token = { headers: { authorization: `Bearer ${w.config.teamToken}` } }
  const path = `/api/team/v1/workspaces/${w.workspaceId}/broadcasts/${id}/start`
  assert.equal((await w.call('POST', path, { body: {}, ...token })).status, 403)
  assert.equal((await start(w.admin)).body.broadcast.state, 'awaiting_approval')
  await drainFor(w, 2_000)
  const approve = (who: BroadcastWorld['admin']) => who.call('POST', `/broadcasts/${id}/approve`, {})
  assert.deepEqual([(await approve(w.admin)).status, (await approve(w.member)).status], [403, 403])
  assert.equal(w.accepted().length, 0)
  assert.equal((await approve(w.second)).status, 200)
  await drainFor(w, 2_000)
  assert.equal(w.accepted().length, 1)
  assert.equal((await w.member.call('DELETE', `/broadcasts/${id}`)).status, 403)
  const off = { body: { approval: false }, ...token }
  assert.equal((await w.call('PUT', path.replace(/broadcasts.*/, 'broadcast-settings'), off)).status, 403)
})

test('when a pause has returned, nothing more is sent until it is resumed', async () => {
  const w = await broadcastWorld()
  await w.addLeads(6)
  const { id } = await w.prepare({ options: { quietDays: 0, optInOnly: false, perMinute: 90 } })
  await w.start(id)
  await w.drain()
  const before = w.platform.calls.length
  let pausedAt = -1
  w.platform.onCall = async () => {
    if (pausedAt >= 0) return
    pausedAt = 0
    await w.control(id, 'pause')
    pausedAt = w.platform.calls.length - before
  }
  await drainFor(w, 4_000)
  const sent = w.platform.calls.length - before
  assert.ok(sent <= pausedAt && sent < 6, `${sent} of 6`)
  w.platform.onCall = () => {}
  await w.control(id, 'resume')
  await drainFor(w, 10_000)
  assert.equal((await w.read(id)).results.variants[0].accepted, 6)
})

test('the messaging limit is kept, and sending continues as it is freed', async () => {
  const w = await broadcastWorld()
  await w.setNumber({ messagingLimit: 10 })
  await w.addLeads(12)
  const { id } = await w.prepare()
  await w.start(id)
  await drainFor(w, 10_000)
  assert.equal(w.accepted().length, 9)
  assert.deepEqual([(await w.read(id)).state, (await w.read(id)).reason], ['running', 'messaging_limit'])
  w.clock.advance(24 * hour)
  await drainFor(w, 10_000)
  assert.deepEqual([w.accepted().length, (await w.read(id)).state], [12, 'done'])
})

test('it starts at its time, and at the local time of each recipient', async () => {
  const w = await broadcastWorld()
  const [brazil = ''] = await w.addLeads(1)
  const [india = ''] = await w.addLeads(1, { phone: '919812345678' })
  const { id } = await w.prepare()
  const past = { at: new Date(w.clock.now().getTime() - 1).toISOString() }
  assert.equal((await w.admin.call('POST', `/broadcasts/${id}/start`, past)).status, 400)
  const day = new Date(w.clock.now().getTime() + 24 * hour).toISOString().slice(0, 10)
  const { state, startAt } = await w.start(id, { localAt: `${day}T09:00`, timeZone: 'UTC' })
  assert.deepEqual([state, startAt], ['scheduled', `${day}T03:30:00.000Z`])
  w.clock.set(new Date(`${day}T03:30:01.000Z`))
  await drainFor(w, 2_000)
  assert.deepEqual([w.sentTo(india), w.sentTo(brazil)], [1, 0])
  await w.control(id, 'pause')
  w.clock.set(new Date(`${day}T16:00:01.000Z`))
  await w.control(id, 'resume')
  await drainFor(w, 2_000)
  assert.deepEqual([w.sentTo(india), w.sentTo(brazil)], [1, 0], 'four hours late: the next day')
  w.clock.set(new Date(Date.parse(`${day}T12:00:01.000Z`) + 24 * hour))
  await drainFor(w, 2_000)
  assert.deepEqual([w.sentTo(india), w.sentTo(brazil)], [1, 1])
})

test('it takes no conversation over, reaches customers of agents, and a first answer is routed like a new one', async () => {
  const w = await broadcastWorld()
  const agent = await addAgent(w)
  const [known = '', unknown = ''] = await w.addLeads(2)
  const { id: ofAgent } = await w.customerWrites('Hi', { customer: customerOf(known) })
  await w.patch(ofAgent, { owner: `agent:${agent.id}` }, agent.value)
  const ownerBefore = (await w.conversations({ phone: known }))[0].owner
  const { id } = await w.prepare()
  await w.start(id)
  await drainFor(w, 2_000)
  assert.deepEqual([w.sentTo(known), w.sentTo(unknown)], [1, 1])
  const [one] = await w.conversations({ phone: known })
  const [other] = await w.conversations({ phone: unknown })
  assert.deepEqual([one.owner, other.status, other.unread_count], [ownerBefore, 'resolved', 0])
  const rule = { connectionId: null, agent: 'key', keyId: agent.id, teamId: null }
  const routed = await w.admin.call('PUT', '/routing', { rules: [rule] })
  assert.ok(routed.status < 300, JSON.stringify(routed.body))
  const answered = await w.customerWrites('Tell me more', { customer: customerOf(unknown) })
  assert.deepEqual([answered.id, answered.owner, answered.status], [other.id, `agent:${agent.id}`, 'open'])
  const { body } = await w.member.call('GET', `/inbox/conversations/${other.id}/timeline`)
  const message = body.items.find((item: { message?: { kind: string } }) => item.message?.kind === 'template').message
  assert.deepEqual([message.author.type, message.author.id, message.author.name], ['system', id, 'Spring sale'])
})

test('variants are split when the audience is frozen, and compared', async () => {
  const w = await broadcastWorld()
  await w.addLeads(30)
  const { id } = await w.prepare({ variants: [variant('sale'), variant('news')] })
  await w.start(id)
  await drainFor(w, 4_000)
  const { results } = await w.read(id)
  const sent = results.variants.map(({ accepted }: { accepted: number }) => accepted)
  assert.deepEqual([sent[0] + sent[1], sent.every((n: number) => n > 3)], [30, true])
  const orders = w.platform.sends.flatMap((one) => (one.connectionId === w.connectionId ? one.order : []))
  const names = orders.map(({ message }) => message.kind === 'template' && message.name)
  assert.deepEqual([names.filter((name) => name === 'news').length], [sent[1]])
})

test('a preview shows real rows, and a test goes to oneself once', async () => {
  const w = await broadcastWorld()
  await w.addLeads(2, { firstName: 'Bia' })
  const { connectionId, audience, variants } = w.draft()
  const preview = await w.member.call('POST', '/broadcasts/preview', { connectionId, audience, variants })
  assert.deepEqual(
    [preview.body.total, preview.body.rows.map((row: { texts: string[] }) => row.texts)],
    [2, [['Hi Bia!'], ['Hi Bia!']]],
  )
  const { id } = await w.prepare()
  const header = { 'idempotency-key': 'a-test' }
  for (let n = 0; n < 2; n++) {
    const { status, body } = await w.member.call('POST', `/broadcasts/${id}/test`, { phone: '+5581999990000' }, header)
    assert.deepEqual([status, body.status], [202, 'sent'])
  }
  assert.equal(w.sentTo('5581999990000'), 1)
})

test('what cannot be sent is refused with the reason, and a started broadcast cannot be changed', async () => {
  const w = await broadcastWorld()
  await w.addLeads(1)
  const send = async (changes: object) => {
    const { body } = await w.member.call('POST', '/broadcasts', w.draft(changes))
    return (await w.member.call('POST', `/broadcasts/${body.broadcast.id}/count`, {})).status
  }
  assert.equal(await send({ variants: [variant('gone')] }), 422)
  assert.equal(await send({ variants: [{ ...variant(), body: [] }] }), 422)
  assert.equal(await send({ variants: [{ ...variant(), header: { from: 'text', value: 'x' } }] }), 422)
  const wrong = await w.member.call('POST', '/broadcasts', w.draft({ connectionId: w.workspaceId }))
  assert.deepEqual([wrong.status, wrong.body.data.issues[0].path], [400, 'connectionId'])
  const { id } = await w.prepare()
  await w.start(id)
  assert.equal((await w.member.call('PUT', `/broadcasts/${id}`, w.draft())).status, 409)
  assert.equal((await w.admin.call('DELETE', `/broadcasts/${id}`)).status, 409)
  await drainFor(w, 2_000)
  assert.equal((await w.admin.call('DELETE', `/broadcasts/${id}`)).status, 200)
  assert.equal((await w.member.call('GET', `/broadcasts/${id}`)).status, 404)
})
