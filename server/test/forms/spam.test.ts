import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Form } from '../../src/forms/form/form.ts'
import { type FormWorld, formWorld, tokenIn } from '../support/form-world.ts'
import { leadsPath } from '../support/leads/leads.ts'

async function withForm(): Promise<{ w: FormWorld; form: Form }> {
  const w = await formWorld()
  return { w, form: await w.newForm() }
}

test('a filled honeypot gets a success response, and nothing is stored', async () => {
  const { w, form } = await withForm()
  const page = await w.send(form.slug, { firstName: 'Bot', homepage: 'http://spam', _token: await w.token(form) })
  assert.equal(page.statusCode, 303)
  const json = await w.post(form.slug, { firstName: 'Bot', homepage: 'x' })
  assert.equal(json.statusCode, 201)
  assert.deepEqual(await w.leads(), [])
})

const second = 1_000
const day = 24 * 3_600 * second
const ages: [ageMs: number, status: number, says: RegExp][] = [
  [0, 400, /very quick/],
  [1_999, 400, /very quick/],
  [2_000, 303, /^$/],
  [day, 303, /^$/],
  [day + 1, 400, /more than a day/],
]

test('a page must be sent 2 s to a day after it was served, otherwise it is shown again with the input', async () => {
  for (const [ageMs, status, says] of ages) {
    const { w, form } = await withForm()
    const page = await w.app.inject({ url: `/f/${form.slug}` })
    w.clock.advance(ageMs)
    const answer = await w.send(form.slug, { firstName: 'Ana', _token: tokenIn(page.body) })
    assert.equal(answer.statusCode, status, `${ageMs} ms`)
    assert.match(answer.body, says)
    assert.equal((await w.leads()).length, status === 303 ? 1 : 0)
    if (status === 303) continue
    assert.match(answer.body, /value="Ana"/)
    w.clock.advance(3_000)
    assert.equal((await w.send(form.slug, { firstName: 'Ana', _token: tokenIn(answer.body) })).statusCode, 303)
  }
})

test('a token that is missing, altered, backdated or of another form is refused', async () => {
  const { w, form } = await withForm()
  const other = await w.newForm()
  const [id = '', signature = ''] = (await w.token(form)).split('.')
  const later = `${id.slice(0, 12)}${id[12] === '0' ? '1' : '0'}${id.slice(13)}`
  const tokens = ['', id, `${id}.`, `${id}.AAAA`, `${later}.${signature}`, `${id.toUpperCase()}.${signature}`]
  for (const token of [...tokens, `${id}.${signature}.x`, await w.token(other)]) {
    assert.equal((await w.send(form.slug, { firstName: 'Ana', _token: token })).statusCode, 400, token)
  }
  assert.equal((await w.send(form.slug, { firstName: 'Ana' })).statusCode, 400)
  assert.deepEqual(await w.leads(), [])
})

test('a page sent ten times concurrently creates one lead, even the last of the quota, with the same response each time', async () => {
  const { w, form } = await withForm()
  await w.db.sql`update workspaces set daily_lead_quota = 1 where id = ${w.workspaceId}`
  const token = await w.token(form)
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => w.send(form.slug, { firstName: 'Ana', _token: token })),
  )
  assert.deepEqual(
    [...new Set(answers.map((answer) => `${answer.statusCode} ${answer.headers.location}`))],
    [`303 /f/${form.slug}/thanks`],
  )
  assert.equal((await w.leads()).length, 1)
  assert.equal(await w.count('form_submissions'), 1)
  assert.equal(await w.count('events'), 1)
})

test('the eleventh post of a minute from one address is 429, only for that form and address', async () => {
  const { w, form } = await withForm()
  const post = ({ slug }: Form, address: string) => w.post(slug, { firstName: 'Ana' }, {}, address)
  for (let count = 1; count <= 10; count++) assert.equal((await post(form, '203.0.113.1')).statusCode, 201)
  const refused = await post(form, '203.0.113.1')
  assert.equal(refused.statusCode, 429)
  assert.deepEqual(refused.json().data, { code: 'RATE_LIMITED' })
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  assert.equal(refused.headers['ratelimit-limit'], '10')
  assert.equal((await post(form, '203.0.113.2')).statusCode, 201)
  assert.equal((await post(await w.newForm(), '203.0.113.1')).statusCode, 201)
  w.clock.advance(61_000)
  assert.equal((await post(form, '203.0.113.1')).statusCode, 201)
})

test('an IPv6 client is limited by its /64 and, with a higher limit, by its /48', async () => {
  const { w, form } = await withForm()
  const post = async (address: string) => (await w.post(form.slug, { firstName: 'Ana' }, {}, address)).statusCode
  const statuses = (count: number, addressOf: (n: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, n) => post(addressOf(n))))
  const refusals = (answers: number[]) => answers.filter((status) => status === 429).length
  assert.equal(refusals(await statuses(12, (n) => `2001:db8:1:2:${n}::1`)), 2)
  assert.equal(refusals(await statuses(40, (n) => `2001:db8:1:${n + 10}::1`)), 10)
  assert.equal(await post('2001:db8:2::1'), 201)
})

test('forms use at most half of the daily quota, one form a quarter, and keys can use the rest', async () => {
  const { w, form } = await withForm()
  const others = [await w.newForm(), await w.newForm()]
  const quota = (leads: number) =>
    w.db.sql`update workspaces set daily_lead_quota = ${leads} where id = ${w.workspaceId}`
  const post = ({ slug }: Form) => w.post(slug, { firstName: 'Ana' })
  const made = async (to: Form, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => post(to)))
    return answers.filter(({ statusCode }) => statusCode === 201).length
  }
  await quota(8)
  assert.deepEqual([await made(form, 5), await made(others[0] as Form, 1), await made(others[1] as Form, 5)], [2, 1, 1])
  const refused = await post(others[1] as Form)
  assert.deepEqual(refused.json(), { statusCode: 429, statusMessage: 'Daily lead limit of forms reached' })
  assert.equal(Number(refused.headers['retry-after']) > 0, true)
  for (let n = 0; n < 4; n++) await w.lead()
  assert.equal((await w.call('POST', leadsPath, { body: { firstName: 'Bia' } })).status, 429)
  await quota(0)
  assert.equal(await made(form, 5), 5)
  await quota(8)
  assert.equal(await made(form, 1), 0)
  w.clock.advance(day)
  assert.equal(await made(form, 1), 1)
  assert.equal(await w.count('form_quota'), 2)
})

test('a rate-limited person keeps their input', async () => {
  const { w, form } = await withForm()
  const send = async (firstName: string) =>
    w.send(form.slug, { firstName, _token: await w.token(form) }, {}, '203.0.113.9')
  for (let n = 0; n < 10; n++) assert.equal((await send('')).statusCode, 400)
  const page = await send('Ana')
  assert.equal(page.statusCode, 429)
  assert.match(page.body, /Sent too often/)
  assert.match(page.body, /value="Ana"/)
})
