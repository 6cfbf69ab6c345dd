import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { recordAdTouches } from '../../../src/leads/sources/ad-touches.ts'
import { eraseSourceRequests } from '../../../src/leads/sources/erase.ts'
import { processSourceRequests } from '../../../src/leads/sources/process-requests.ts'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { commandsUnder, type } from '../../support/program/operations.ts'
import { mapping, sourceWorld } from './source-world.ts'

const person = { name: 'Marina Duarte', contact: { phone: '+55 81 99123-4567', email: 'marina@example.com' } }

test('a signed request becomes a lead with custom fields and campaign, and a repeat changes nothing', async () => {
  const w = await sourceWorld()
  const page = 'https://shop.example/offer?utm_source=google&utm_campaign=spring&gclid=abc'
  const body = { ...person, budget: 'high', page }
  assert.deepEqual(await w.post(body, { id: 'm1' }), {
    status: 200,
    body: { success: true, received: 1, repeated: 0 },
  })
  assert.deepEqual((await w.post(body, { id: 'm1' })).body, { success: true, received: 0, repeated: 1 })
  await Promise.all([w.run(), w.run()])
  const [lead, ...others] = await w.leads()
  assert.equal(others.length, 0)
  assert.deepEqual(
    [lead.firstName, lead.lastName, lead.phone, lead.email, lead.source, lead.adPlatform],
    ['Marina', 'Duarte', '5581991234567', 'marina@example.com', 'ads', 'google'],
  )
  const [request] = await w.requests()
  assert.deepEqual([request.status, request.action, request.leadId, request.issues], ['done', 'created', lead.id, []])
  assert.equal(request.fields['custom.budget'], 'high')
  const { first, last } = await w.attribution(lead.id)
  assert.deepEqual(first, last)
  assert.deepEqual(
    [first.channel, first.source, first.campaign, first.gclid, first.url],
    ['webhook', 'google', 'spring', 'abc', 'https://shop.example/offer'],
  )
})

test('an existing lead is updated, and keeps its source and its first touch', async () => {
  const w = await sourceWorld()
  await w.post({ ...person, page: 'https://a.example/?utm_source=one' })
  await w.run()
  const [before] = await w.leads()
  assert.equal((await w.member.call('PATCH', `/leads/${before.id}`, { source: 'referral' })).status, 200)
  w.clock.advance(60_000)
  await w.post({ ...person, name: 'Marina D.', page: 'https://a.example/?utm_source=two' })
  await w.run()
  const [lead, ...others] = await w.leads()
  assert.equal(others.length, 0)
  assert.deepEqual([lead.firstName, lead.lastName, lead.source], ['Marina', 'D.', 'referral'])
  const { first, last } = await w.attribution(lead.id)
  assert.deepEqual([first.source, last.source], ['one', 'two'])
  assert.deepEqual(
    (await w.requests()).map(({ action }: { action: string }) => action),
    ['updated', 'created'],
  )
})

test('without a phone the e-mail finds the lead, and without both the request says so', async () => {
  const w = await sourceWorld()
  const byMail = { name: 'Bia', contact: { email: 'bia@example.com' } }
  await w.post(byMail)
  await w.run()
  await w.post({ ...byMail, name: 'Beatriz' })
  await w.run()
  const [lead, ...others] = await w.leads()
  assert.deepEqual([lead.firstName, lead.email, others.length], ['Beatriz', 'bia@example.com', 0])
  await w.post({ name: 'Nobody' })
  await w.run()
  const [failed] = await w.requests()
  assert.deepEqual([failed.status, failed.leadId, failed.issues.length], ['failed', null, 1])
})

test('a failed request names its fields, and works after the mapping was corrected', async () => {
  const w = await sourceWorld()
  await w.post({ name: 'Ana', contact: { phone: '12', email: 'no address' } })
  await w.run()
  const [failed] = await w.requests()
  assert.equal(failed.status, 'failed')
  assert.deepEqual(failed.issues.map(({ path }: { path: string }) => path).sort(), ['email', 'phone'])
  assert.deepEqual(failed.fields, { firstName: 'Ana', phone: '12', email: 'no address' })
  const at = `/lead-sources/${w.source.id}`
  const fixed = [
    { path: 'name', field: 'name' },
    { path: 'name', field: 'externalRef' },
  ]
  const changed = await w.admin.call('PATCH', at, { match: 'externalRef', mapping: fixed })
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  assert.equal((await w.admin.call('POST', `${at}/requests/${failed.id}/retry`)).status, 200)
  assert.equal((await w.admin.call('POST', `${at}/requests/${failed.id}/retry`)).status, 409)
  await w.run()
  const [lead] = await w.leads()
  assert.deepEqual([lead.firstName, lead.externalRef], ['Ana', 'Ana'])
})

test('strangers, replays, other workspaces and wrong secrets get nothing in', async () => {
  const w = await sourceWorld()
  const other = await sourceWorld()
  const old = new Date(w.clock.now().getTime() - 301_000)
  const path = (workspaceId: string, id: string) => `/hooks/leads/${workspaceId}/${id}`
  const url = (at: string) =>
    w.app.inject({ method: 'POST', url: at, headers: { 'content-type': 'application/json' }, payload: '{}' })
  assert.equal((await w.post(person, { at: old })).status, 401)
  assert.equal((await w.post(person, { secret: other.source.secret })).status, 401)
  assert.equal((await w.post(person, { headers: { 'webhook-signature': 'v1,AAAA' } })).status, 401)
  assert.equal((await w.post(person, { query: `?token=${w.source.secret}` })).status, 200, 'the signature counts')
  assert.equal((await url(path(other.workspaceId, w.source.id))).statusCode, 404)
  assert.equal((await url(path(w.workspaceId, newId(w.clock.now())))).statusCode, 404)
  assert.ok([400, 404].includes((await url(path('x', w.source.id))).statusCode))
  assert.equal((await w.admin.call('GET', `/lead-sources/${other.source.id}/requests`)).status, 404)
  assert.equal((await w.admin.call('PATCH', `/lead-sources/${other.source.id}`, { isEnabled: false })).status, 404)
  assert.equal((await w.admin.call('DELETE', `/lead-sources/${other.source.id}`)).status, 404)
  assert.equal((await w.member.call('GET', '/lead-sources')).status, 403)
  assert.equal((await w.admin.call('PATCH', `/lead-sources/${w.source.id}`, { isEnabled: false })).status, 200)
  assert.equal((await w.post(person)).status, 404, 'switched off')
})

test('huge, nested and broken bodies do no harm', async () => {
  const w = await sourceWorld()
  assert.equal((await w.post({ name: 'x'.repeat(64 * 1024) })).status, 413)
  const nested = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  assert.ok([200, 400].includes((await w.post(nested)).status))
  assert.equal((await w.post('{')).status, 400)
  assert.equal((await w.post('3')).status, 400)
  assert.equal((await w.post('')).status, 400)
  await w.post({ ...person, name: 'N\u0000ul \ud800 <b>', contact: { phone: ['5581991234567'] } })
  await w.run()
  const states = (await w.requests()).map(({ status }: { status: string }) => status)
  assert.ok(states.every((status: string) => status !== 'waiting'))
})

test('a sender that cannot sign uses the secret in its URL, also with a form, and equal bodies are one', async () => {
  const w = await sourceWorld({
    proof: 'url',
    mapping: [
      { path: 'your-name', field: 'name' },
      { path: 'tel', field: 'phone' },
      { path: 'entry', field: 'notes' },
    ],
    idPath: 'entry',
  })
  const { search } = new URL(w.source.url)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = (entry: string) => new URLSearchParams({ 'your-name': 'Ana', tel: '+5581991234567', entry }).toString()
  assert.equal((await w.post(form('1'), { headers })).status, 401)
  assert.equal((await w.post(form('1'), { headers, query: search })).body.received, 1)
  assert.equal((await w.post(`${form('1')}&more=1`, { headers, query: search })).body.repeated, 1, 'same id')
  assert.equal((await w.post(form('2'), { headers, query: search })).body.received, 1)
  await w.run()
  assert.equal((await w.leads()).length, 1)
  const { body } = await w.admin.call('PATCH', `/lead-sources/${w.source.id}`, { newSecret: true })
  assert.notEqual(body.source.secret, w.source.secret)
  assert.equal((await w.post(form('3'), { headers, query: search })).status, 401, 'the old secret has ended')
})

test('a used-up quota postpones the request, and nothing is lost', async () => {
  const w = await sourceWorld()
  await w.db.sql`update workspaces set daily_lead_quota = 1 where id = ${w.workspaceId}`
  await w.lead({ phone: '5511987650001' })
  await w.post(person)
  await w.run()
  assert.equal((await w.requests())[0].status, 'waiting')
  w.clock.advance(24 * 3_600_000)
  await w.run()
  assert.equal((await w.requests())[0].status, 'done')
})

test('more than 120 requests a minute are refused', async () => {
  const w = await sourceWorld()
  const statuses = []
  for (let n = 0; n < 122; n++) statuses.push((await w.post(person, { id: 'same' })).status)
  assert.deepEqual([statuses[119], statuses[121]], [200, 429])
})

test('wrong settings are refused with the field that is wrong', async () => {
  const w = await sourceWorld()
  const table: [object, string][] = [
    [{ kind: 'webhook', name: 'x', mapping: [{ path: 'a', field: 'name' }] }, 'mapping'],
    [{ kind: 'webhook', name: 'x', mapping: [{ path: 'a', field: 'phone' }] }, 'mapping'],
    [{ kind: 'webhook', name: 'x', mapping: [...mapping, { path: 'a[', field: 'notes' }] }, 'mapping[5].path'],
    [{ kind: 'lead_ads', name: 'x' }, 'connectionId'],
    [{ kind: 'lead_ads', name: 'x', connectionId: newId(w.clock.now()) }, 'connectionId'],
    [{ kind: 'webhook', name: '' }, 'name'],
  ]
  for (const [body, field] of table) {
    const answer = await w.admin.call('POST', '/lead-sources', body)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    const paths = answer.body.data.issues.map(({ path }: { path: string }) => path)
    assert.ok(paths.includes(field), `${field}: ${paths}`)
  }
})

test('what is known of the origin and what was received ends with the lead', async () => {
  const w = await sourceWorld()
  await w.post(person)
  await w.run()
  const [lead] = await w.leads()
  const count = async () => {
    const [row] = await w.db.sql<{ count: number }[]>`
      select (
        (select count(*) from lead_attributions where workspace_id = ${w.workspaceId})
        + (select count(*) from lead_source_requests where workspace_id = ${w.workspaceId})
      )::integer as count`
    return row?.count
  }
  assert.equal(await count(), 2)
  await w.member.call('DELETE', `/leads/${lead.id}`)
  w.clock.advance(31 * 24 * 3_600_000)
  await purgeDeletedLeads(w.db, w.clock)
  assert.equal(await count(), 0)
})

test('forms and ads that open a chat keep how the lead came', async () => {
  const w = await sourceWorld()
  await w.lead({ phone: '5581991234567' })
  const referral = {
    ...{ ctwa_clid: 'clid', source_id: '9', source_type: 'ad', source_url: 'https://fb.me/x?fbclid=f' },
    headline: 'Spring',
  }
  await recordAdTouches(w, w.workspaceId, [
    { phone: '5581991234567', referral },
    { phone: '5511999999999', referral },
  ])
  const [lead] = await w.leads()
  const { first } = await w.attribution(lead.id)
  assert.deepEqual(
    [first.channel, first.ctwaClid, first.adId, first.adName, first.fbclid, first.url],
    ['click_to_chat', 'clid', '9', 'Spring', 'f', 'https://fb.me/x'],
  )
})

test('the commands of the operations guide send a request that becomes a lead', async () => {
  const w = await sourceWorld()
  w.clock.advance(Date.now() - w.clock.now().getTime())
  const address = await w.app.listen({ host: '127.0.0.1', port: 0 })
  const [send = ''] = await commandsUnder('Lead sources')
  const env = { ...process.env, SECRET: w.source.secret, URL: `${address}${w.pathname}` }
  assert.deepEqual(JSON.parse(await type(send, process.cwd(), env)), { success: true, received: 1, repeated: 0 })
})

test('erasing a customer deletes what was sent about them and is no lead', async () => {
  const w = await sourceWorld()
  await w.post({ contact: { phone: '+55 81 99123-4567' } }, { id: 'waits' })
  await w.post('{"contact":{"email":"marina\\u0040example.com"}}', { id: 'escaped' })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await w.post('tel=%2B55+81+99123-4567', { id: 'form', headers: form })
  await w.post({ contact: { phone: '+55 11 98888-7777' } }, { id: 'other' })
  const customer = {
    ...{ phones: ['5581991234567'], emails: ['marina@example.com'], knownEmails: [], userIds: [], mergedIds: [] },
    ...{ leadIds: [], conversationIds: [] },
  }
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const scope = { workspaceId: w.workspaceId, keyring, customer, createdBefore: w.clock.now(), now: w.clock.now() }
  assert.equal((await w.db.tx((tx) => eraseSourceRequests(tx, scope, null))).position, null)
  const bodies = (await w.requests()).map(({ body }: { body: string }) => body)
  assert.deepEqual(bodies, ['{"contact":{"phone":"+55 11 98888-7777"}}'])
})

test('a slow round leaves the rest for later, and a request whose source is gone is deleted', async () => {
  const w = await sourceWorld()
  for (const id of ['one', 'two', 'three']) await w.post({ ...person, name: id }, { id })
  await processSourceRequests(w, 0)
  const statuses = async () => (await w.requests()).map(({ status }: { status: string }) => status).sort()
  assert.deepEqual(await statuses(), ['done', 'waiting', 'waiting'])
  w.clock.advance(121_000)
  await w.run()
  assert.deepEqual(await statuses(), ['done', 'done', 'done'])
  await w.post(person, { id: 'late' })
  await w.db.sql`delete from lead_sources where workspace_id = ${w.workspaceId}`
  await w.run()
  const left = await w.db.sql`
    select id from lead_source_requests where workspace_id = ${w.workspaceId} and status = 'waiting'`
  assert.equal(left.length, 0)
})
