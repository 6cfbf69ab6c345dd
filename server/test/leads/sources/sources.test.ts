import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { processSourceRequests } from '../../../src/leads/sources/process-requests.ts'
import { purgeDeletedLeads } from '../../../src/leads/write/restore.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const mapping = [
  { path: 'name', field: 'name' },
  { path: 'contact.phone', field: 'phone' },
  { path: 'contact.email', field: 'email' },
  { path: 'budget', field: 'custom.budget' },
  { path: 'page', field: 'url' },
]

interface Sent {
  id?: string
  at?: Date
  secret?: string
  headers?: Record<string, string>
  query?: string
}

async function sourceWorld(fields: object = {}) {
  const w = await inboxWorld({ key: { scopes: ['inbox.read', 'leads.read', 'leads.write'] } })
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const create = async (more: object = {}) => {
    const { status, body } = await admin.call('POST', '/lead-sources', {
      ...{ kind: 'webhook', name: 'Landing page', mapping },
      ...more,
    })
    assert.equal(status, 201, JSON.stringify(body))
    return body.source
  }
  const source = await create(fields)
  const { pathname } = new URL(source.url)
  const post = async (body: object | string, sent: Sent = {}) => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    const id = sent.id ?? randomUUID()
    const time = Math.floor((sent.at ?? w.clock.now()).getTime() / 1000)
    const key = Buffer.from((sent.secret ?? source.secret).replace('whsec_', ''), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${time}.${raw}`).digest('base64')
    const reply = await w.app.inject({
      method: 'POST',
      url: `${pathname}${sent.query ?? ''}`,
      headers: {
        'content-type': 'application/json',
        ...{ 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': `v1,${signature}` },
        ...sent.headers,
      },
      payload: raw,
    })
    return { status: reply.statusCode, body: reply.json() }
  }
  const run = async () => {
    const seen = w.logLines.length
    await processSourceRequests(w)
    const failures = w.logLines.slice(seen).filter((line) => line.includes('failed to process'))
    assert.deepEqual(failures, [])
  }
  const requests = async () => (await admin.call('GET', `/lead-sources/${source.id}/requests`)).body.requests
  const leads = async () => (await member.call('GET', '/leads?limit=100')).body.leads
  const attribution = async (id: string) => (await member.call('GET', `/leads/${id}/attribution`)).body
  return { ...w, admin, member, create, source, pathname, post, run, requests, leads, attribution }
}

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
  assert.deepEqual(
    failed.issues.map(({ path }: { path: string }) => path).sort(),
    ['email', 'match.value', 'phone'].filter((path) =>
      failed.issues.some((one: { path: string }) => one.path === path),
    ),
  )
  assert.ok(failed.issues.length > 0)
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

/** The platform's API for leads of ads. */
async function leadAdPlatform() {
  const calls: string[] = []
  const state = { status: 200, errorCode: 0 }
  const lead = (id: string, phone: string) => ({
    id,
    created_time: '2026-03-01T10:00:00+0000',
    ...{ form_id: '7', ad_id: '9', ad_name: 'Spring', campaign_name: 'Launch', platform: 'fb' },
    field_data: [
      { name: 'full_name', values: ['Rui Costa'] },
      { name: 'phone_number', values: [phone] },
    ],
  })
  const server = createServer((request, reply) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    calls.push(pathname)
    reply.setHeader('content-type', 'application/json')
    const needsAds = searchParams.get('fields')?.includes('ad_id') === true
    if (state.status !== 200 && (needsAds || state.errorCode !== 200)) {
      reply.statusCode = state.status
      reply.end(JSON.stringify({ error: { code: state.errorCode, message: 'No' } }))
      return
    }
    const [, , id = '', list] = pathname.split('/')
    if (list !== 'leads') return void reply.end(JSON.stringify(lead(id, '+5581990000001')))
    const after = searchParams.get('after')
    const data = after === null ? [lead('101', '+5581990000101')] : [lead('102', '+5581990000102')]
    const paging = after === null ? { cursors: { after: 'A' }, next: 'https://x' } : { cursors: { after: 'B' } }
    reply.end(JSON.stringify({ data, paging }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, state }
}

async function leadAdWorld() {
  const platform = await leadAdPlatform()
  const w = await sourceWorld()
  const connectionId = await w.addConnection('waba', platform.url)
  const source = await w.create({ kind: 'lead_ads', name: 'Ads', connectionId, mapping: undefined, pageId: '1' })
  const { pathname } = new URL(source.url)
  const callback = (leadgenId: string, pageId = '1', appSecret = 's') => {
    const value = { leadgen_id: leadgenId, page_id: pageId, form_id: '7', ad_id: '9', created_time: 1 }
    const entry = [{ id: pageId, time: 1, changes: [{ field: 'leadgen', value }] }]
    const payload = JSON.stringify({ object: 'page', entry })
    const signature = createHmac('sha256', appSecret).update(payload).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
    return w.app.inject({ method: 'POST', url: pathname, headers, payload })
  }
  const requests = async () => (await w.admin.call('GET', `/lead-sources/${source.id}/requests`)).body.requests
  return { ...w, platform, leadAds: source, adPath: pathname, callback, requests }
}

test('a lead of an ad is fetched with the token of the connection, once, and keeps its ad', async () => {
  const w = await leadAdWorld()
  const challenge = await w.app.inject({
    url: `${w.adPath}?hub.mode=subscribe&hub.challenge=42&hub.verify_token=${w.leadAds.secret}`,
  })
  assert.deepEqual([challenge.statusCode, challenge.body], [200, '42'])
  const wrong = await w.app.inject({ url: `${w.adPath}?hub.mode=subscribe&hub.challenge=42&hub.verify_token=x` })
  assert.equal(wrong.statusCode, 403)
  assert.equal((await w.callback('44', '1', 'other')).statusCode, 401)
  assert.equal((await w.callback('44', '2')).json().received, 0, 'of another page')
  assert.equal((await w.callback('44')).json().received, 1)
  assert.equal((await w.callback('44')).json().repeated, 1)
  await w.run()
  await w.run()
  const [lead, ...others] = await w.leads()
  assert.deepEqual([lead.firstName, lead.lastName, lead.source, lead.adPlatform], ['Rui', 'Costa', 'ads', 'meta'])
  assert.equal(others.length, 0)
  const { first } = await w.attribution(lead.id)
  assert.deepEqual(
    [first.channel, first.source, first.campaign, first.adName, first.at],
    ['lead_ad', 'fb', 'Launch', 'Spring', '2026-03-01T10:00:00.000Z'],
  )
  assert.equal(w.platform.calls.filter((path) => path === '/v25.0/44').length, 1)
})

test('without access to ads the lead is read without its ad; a refusal is shown; an outage is tried again', async () => {
  const w = await leadAdWorld()
  Object.assign(w.platform.state, { status: 403, errorCode: 200 })
  await w.callback('44')
  await w.run()
  assert.equal((await w.requests())[0].status, 'done')
  Object.assign(w.platform.state, { status: 403, errorCode: 190 })
  await w.callback('45')
  await w.run()
  const [refused] = await w.requests()
  assert.deepEqual([refused.status, /190/.test(refused.issues[0].message)], ['failed', true])
  Object.assign(w.platform.state, { status: 503, errorCode: 2 })
  await w.callback('46')
  await w.run()
  assert.equal((await w.requests())[0].status, 'waiting')
  Object.assign(w.platform.state, { status: 200 })
  w.clock.advance(60_000)
  await w.run()
  assert.equal((await w.requests())[0].status, 'done')
})

test('earlier leads of a form are fetched page by page, and none twice', async () => {
  const w = await leadAdWorld()
  const at = `/lead-sources/${w.leadAds.id}/back-fill`
  const { status, body } = await w.admin.call('POST', at, { formId: '7' })
  assert.deepEqual([status, body], [200, { found: 2, added: 2, after: null }])
  assert.equal((await w.admin.call('POST', at, { formId: '7' })).body.added, 0)
  await w.callback('101')
  await w.run()
  assert.equal((await w.leads()).length, 2)
  assert.equal((await w.admin.call('POST', at, { formId: '../me' })).status, 400)
  assert.equal((await w.admin.call('POST', `/lead-sources/${w.source.id}/back-fill`, { formId: '7' })).status, 400)
  Object.assign(w.platform.state, { status: 400, errorCode: 190 })
  assert.equal((await w.admin.call('POST', at, { formId: '7' })).status, 422)
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
  const { recordAdTouches } = await import('../../../src/leads/sources/ad-touches.ts')
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
