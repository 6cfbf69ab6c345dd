import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { atEnd } from '../../support/file-lifecycle.ts'
import { sourceWorld } from './source-world.ts'

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
