import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { createTouch, fieldsOfParameters, fieldsOfUrl } from '../../../src/leads/sources/attribution.ts'
import { answersOf, parseLeadgen, touchOfLeadAd } from '../../../src/leads/sources/lead-ads.ts'
import { applyMapping, mappingIssues, parsePath, valueAt } from '../../../src/leads/sources/mapping.ts'
import { maxAgeSeconds, verifyProof } from '../../../src/leads/sources/proof.ts'
import { createSourceSecret } from '../../../src/leads/sources/source.ts'

test('a path names one value, and anything else is none', () => {
  const payload = { a: { b: [{ c: ' x ' }], n: 3, t: true, list: ['p', 2, {}], deep: {} }, 'é f': 'y' }
  const table: [string, string | null][] = [
    ['a.b[0].c', 'x'],
    ['a.n', '3'],
    ['a.t', 'true'],
    ['a.list', 'p, 2'],
    ['é f', 'y'],
    ['a', null],
    ['a.b[1].c', null],
    ['a.b[0].c.d', null],
    ['a.__proto__.toString', null],
    ['constructor', null],
    ['a.list.length', null],
  ]
  for (const [path, expected] of table) assert.equal(valueAt(payload, path), expected, path)
  for (const path of ['', 'a..b', 'a[', 'a[x]', '[0]', 'a]', 'a.b.c.d.e.f.g.h.i.j.k', 'a'.repeat(201)])
    assert.equal(parsePath(path), null, path)
})

test('a mapping fills a lead, its custom fields and its campaign, and leaves out what is missing', () => {
  const payload = {
    who: 'Marina de Souza',
    tel: '+55 81 99123-4567',
    page: 'https://shop.example/a?utm_source=x&gclid=g',
  }
  const mapped = applyMapping(payload, [
    { path: 'who', field: 'name' },
    { path: 'tel', field: 'phone' },
    { path: 'mail', field: 'email' },
    { path: 'who', field: 'custom.contact' },
    { path: 'page', field: 'url' },
  ])
  assert.deepEqual(mapped.lead, { firstName: 'Marina', lastName: 'de Souza', phone: '+55 81 99123-4567' })
  assert.deepEqual(mapped.custom, { contact: 'Marina de Souza' })
  assert.deepEqual([mapped.touch.url, mapped.touch.source, mapped.touch.gclid], ['https://shop.example/a', 'x', 'g'])
  assert.equal(applyMapping({ v: '12,5' }, [{ path: 'v', field: 'estimatedValue' }]).lead.estimatedValue, 12.5)
})

test('a wrong mapping names the field that is wrong', () => {
  const issues = mappingIssues([
    { path: 'a..b', field: 'phone' },
    { path: 'b', field: 'assignedTo' },
    { path: 'c', field: 'custom.Not Valid' },
    { path: 'd', field: 'phone' },
  ])
  assert.deepEqual(
    issues.map(({ path }) => path),
    ['mapping[0].path', 'mapping[1].field', 'mapping[2].field', 'mapping[3].field'],
  )
})

test('a signature covers id, time and the exact bytes, and an old one is refused', () => {
  const now = new Date('2026-11-30T01:00:00Z')
  const secret = createSourceSecret('webhook', 'signature')
  const seconds = Math.floor(now.getTime() / 1000)
  const sign = (id: string, time: number, body: string, key = secret) =>
    `v1,${createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
      .update(`${id}.${time}.${body}`)
      .digest('base64')}`
  const check = (
    changed: Record<string, string | undefined> = {},
    body = '{"a":1}',
    settings = { proof: 'signature', secret },
  ) => {
    const headers = {
      ...{
        'webhook-id': 'm1',
        'webhook-timestamp': String(seconds),
        'webhook-signature': sign('m1', seconds, '{"a":1}'),
      },
      ...changed,
    }
    return verifyProof(settings as never, { headers, token: '', body: Buffer.from(body) }, now)
  }
  assert.deepEqual(check(), { id: 'm1' })
  assert.deepEqual(check({ 'webhook-signature': `v1,AAAA ${sign('m1', seconds, '{"a":1}')}` }), { id: 'm1' })
  const old = seconds - maxAgeSeconds - 1
  const refused: [string, ReturnType<typeof check>][] = [
    ['other body', check({}, '{"a": 1}')],
    ['other id', check({ 'webhook-id': 'm2' })],
    ['long id', check({ 'webhook-id': 'x'.repeat(256) })],
    ['no id', check({ 'webhook-id': undefined })],
    ['other time', check({ 'webhook-timestamp': String(seconds + 1) })],
    ['old', check({ 'webhook-timestamp': String(old), 'webhook-signature': sign('m1', old, '{"a":1}') })],
    ['no time', check({ 'webhook-timestamp': 'now' })],
    ['no signature', check({ 'webhook-signature': undefined })],
    ['other scheme', check({ 'webhook-signature': sign('m1', seconds, '{"a":1}').replace('v1,', 'v1a,') })],
    [
      'other secret',
      check({ 'webhook-signature': sign('m1', seconds, '{"a":1}', createSourceSecret('webhook', 'signature')) }),
    ],
    ['huge header', check({ 'webhook-signature': 'v1,A '.repeat(10_000) })],
  ]
  for (const [name, result] of refused) assert.ok('problem' in result, name)
  const token = createSourceSecret('webhook', 'url')
  const byUrl = (given: string) =>
    verifyProof({ proof: 'url', secret: token }, { headers: {}, token: given, body: Buffer.alloc(0) }, now)
  assert.deepEqual(byUrl(token), { id: null })
  for (const wrong of ['', token.slice(1), `${token} `]) assert.ok('problem' in byUrl(wrong), wrong)
})

const leadAds = { pageId: null, formIds: [] } as unknown as Parameters<typeof parseLeadgen>[1]
const callback = (...values: object[]) => ({
  object: 'page',
  entry: values.map((value) => ({ id: '1', time: 1, changes: [{ field: 'leadgen', value }] })),
})

test('leads are read from callbacks about the page and the forms of the source, each once', () => {
  const one = { leadgen_id: '44444', page_id: '1', form_id: '7', created_time: 1 }
  const two = { leadgen_id: 123123123123, page_id: 2, form_id: 8 }
  assert.deepEqual(parseLeadgen(callback(one, two, one), leadAds), ['44444', '123123123123'])
  assert.deepEqual(parseLeadgen(callback(one, two), { ...leadAds, pageId: '2' }), ['123123123123'])
  assert.deepEqual(parseLeadgen(callback(one, two), { ...leadAds, formIds: ['7'] }), ['44444'])
  const broken = [
    null,
    'x',
    {},
    { object: 'page' },
    { object: 'user', entry: callback(one).entry },
    { object: 'page', entry: [{ changes: [{ field: 'feed', value: one }] }] },
    callback({ leadgen_id: '../me' }, { leadgen_id: '1?x=1' }, { leadgen_id: {} }, {}),
  ]
  for (const payload of broken) assert.deepEqual(parseLeadgen(payload, leadAds), [])
})

test('answers of a lead ad are read by the names of their questions, with the ad that brought it', () => {
  const lead = {
    field_data: [
      { name: 'full_name', values: ['Marina Duarte'] },
      { name: 'interests', values: ['a', 'b'] },
      { name: 'empty', values: [] },
      { name: 3, values: ['x'] },
    ],
    created_time: '2026-11-29T10:00:00+0000',
    ...{ ad_id: '9', ad_name: 'Ad', campaign_name: 'Autumn', platform: 'ig', form_id: '7' },
  }
  assert.deepEqual(answersOf(lead), { full_name: 'Marina Duarte', interests: 'a, b' })
  const now = new Date('2026-11-30T00:00:00Z')
  const { at, ...touch } = touchOfLeadAd(lead, now)
  assert.deepEqual(touch, {
    ...{ channel: 'lead_ad', source: 'ig', campaign: 'Autumn', adId: '9', adName: 'Ad', formId: '7' },
  })
  assert.equal(at.toISOString(), '2026-11-29T10:00:00.000Z')
  for (const created_time of [undefined, 'soon', '2099-01-01T00:00:00Z'])
    assert.deepEqual(touchOfLeadAd({ created_time }, now).at, now)
})

test('what strangers write into addresses is limited, and a page is kept without its parameters', () => {
  const at = new Date(0)
  assert.deepEqual(createTouch('form', at, { source: 'x'.repeat(2000), campaign: 3, term: '  ' }), {
    ...{ channel: 'form', at, source: 'x'.repeat(512) },
  })
  assert.equal(fieldsOfUrl('https://a.example/p?mail=ana@example.com&utm_source=x').url, 'https://a.example/p')
  for (const url of ['javascript:alert(1)', 'nothing', '', null, `https://a.example/${'x'.repeat(5000)}`])
    assert.deepEqual(fieldsOfUrl(url), {})
  assert.equal(fieldsOfParameters({ k_utm_source: 'x' }).source, 'x')
})
