import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formEncoded, formWorld, nameField, tokenIn } from '../support/form-world.ts'
import { pick } from '../support/pick.ts'

const fields = [
  nameField,
  { key: 'email', label: 'E-mail', type: 'email' as const, required: true },
  { key: 'phone', label: 'Phone', type: 'phone' as const, required: false },
  {
    key: 'colours',
    label: 'Colours you like',
    type: 'multiselect' as const,
    required: false,
    options: ['Red', 'Blue'],
  },
  { key: 'newsletter', label: 'Send me news', type: 'boolean' as const, required: false },
]

const marina = { firstName: 'Marina', email: 'marina@example.com' }

test('submitting the page creates a lead and redirects to the thank-you page', async () => {
  const w = await formWorld()
  const form = await w.newForm({ fields, source: 'ads', status: 'contacted', thankYou: 'We <3 you' })
  const page = await w.app.inject({ url: `/f/${form.slug}?k_plan=gold&utm_source=mail&other=1` })
  assert.equal(page.statusCode, 200)
  w.clock.advance(5_000)
  const answer = await w.send(form.slug, {
    ...marina,
    phone: '11 98765-4321',
    colours: ['Blue', 'Red'],
    newsletter: 'true',
    k_plan: 'gold',
    k_utm_source: 'mail',
    homepage: '',
    _token: tokenIn(page.body),
  })
  assert.equal(answer.statusCode, 303)
  assert.equal(answer.headers.location, `/f/${form.slug}/thanks`)
  const thanks = await w.app.inject({ url: answer.headers.location })
  assert.match(thanks.body, /We &#60;3 you/)

  const [lead, ...others] = await w.leads()
  assert.deepEqual(others, [])
  assert.equal(lead?.firstName, 'Marina')
  assert.equal(lead?.phone, '5511987654321')
  assert.equal(lead?.source, 'ads')
  assert.equal(lead?.status, 'contacted')
  assert.deepEqual(lead?.customFields, [
    { key: 'colours', label: 'Colours you like', type: 'multiselect', value: 'Red, Blue' },
    { key: 'newsletter', label: 'Send me news', type: 'boolean', value: true },
    { key: 'k_plan', label: 'k_plan', type: 'text', value: 'gold' },
    { key: 'k_utm_source', label: 'k_utm_source', type: 'text', value: 'mail' },
  ])
  assert.equal(await w.count('form_submissions'), 1)
  assert.equal(await w.count('events'), 1)
})

test('a page has k_ parameters and utm_ tags in hidden inputs, even of a malformed link', async () => {
  const w = await formWorld()
  const form = await w.newForm()
  const query = `k_plan=a%22b&k_plan=2&utm_source=x&k_BAD=1&bad=%E0%A4%A&k_empty=&k_long=${'x'.repeat(256)}`
  const page = await w.app.inject({ url: `/f/${form.slug}?${query}` })
  assert.equal(page.statusCode, 200)
  const hidden = [...page.body.matchAll(/<input type="hidden" name="(k_[^"]*)" value="([^"]*)">/g)]
  assert.deepEqual(
    hidden.map(([, name, value]) => [name, value]),
    [
      ['k_plan', 'a&#34;b'],
      ['k_utm_source', 'x'],
    ],
  )
})

test('a form with redirectUrl redirects there', async () => {
  const w = await formWorld()
  const form = await w.newForm({ redirectUrl: 'https://example.com/done' })
  const answer = await w.send(form.slug, { firstName: 'Ana', _token: await w.token(form) })
  assert.equal(answer.statusCode, 303)
  assert.equal(answer.headers.location, 'https://example.com/done')
  assert.match(
    String((await w.app.inject({ url: `/f/${form.slug}` })).headers['content-security-policy']),
    /form-action 'self' https:/,
  )
})

test('JSON creates a lead too, as does a form-encoded post that accepts JSON, without returning its id', async () => {
  const w = await formWorld()
  const form = await w.newForm({ fields, thankYou: 'Thanks!' })
  const sent = await w.post(`${form.slug}?k_plan=gold`, { ...marina, newsletter: true, colours: ['Red'] })
  const headers = { ...formEncoded, accept: 'application/json' }
  const encoded = await w.post(form.slug, 'firstName=Ana&email=ana%40example.com&submit=Send', headers)
  for (const answer of [sent, encoded]) {
    assert.equal(answer.statusCode, 201)
    assert.deepEqual(answer.json(), { success: true, message: 'Thanks!', redirectUrl: null })
  }
  const [lead] = await w.leads()
  assert.deepEqual(pick(lead?.customFields, 'key', 'value'), [
    ['colours', 'Red'],
    ['newsletter', true],
    ['k_plan', 'gold'],
  ])
  const refused = await w.post(form.slug, 'firstName=&email=ana%40example.com', headers)
  assert.equal(refused.statusCode, 400)
  assert.deepEqual(refused.json().data, { issues: [{ path: 'firstName', message: 'is required' }] })
  const other = await w.post(form.slug, 'x', { 'content-type': 'text/plain' })
  assert.equal(other.statusCode, 415, 'a media type that forms do not have')
})

const refusedJson: [what: string, path: string, body: object, issues: string[]][] = [
  ['a missing name', '', { email: 'a@example.com' }, ['firstName']],
  ['several mistakes at once', '', { firstName: '', email: 'nope', phone: '12' }, ['firstName', 'email', 'phone']],
  ['an unknown field', '', { ...marina, colour: 'red' }, ['colour']],
  ['a parameter with a bad key', '?k_Bad=1', marina, ['k_Bad']],
  ['a parameter that is too long', `?k_x=${'x'.repeat(256)}`, marina, ['k_x']],
  ['a parameter that is no text', '', { ...marina, k_x: 1 }, ['k_x']],
  ['too many parameters', `?${[...'abcdefghij'].map((c) => `k_${c}=1`).join('&')}`, marina, ['k_j']],
]

test('invalid input is 400, naming the field, and nothing is stored', async () => {
  const w = await formWorld()
  const form = await w.newForm({ fields })
  for (const [what, query, body, paths] of refusedJson) {
    const answer = await w.post(form.slug + query, body)
    const { statusMessage, data } = answer.json()
    assert.deepEqual([answer.statusCode, statusMessage], [400, 'Validation failed'], what)
    assert.deepEqual(pick(data.issues, 'path'), paths, what)
  }
  assert.deepEqual(await w.leads(), [])
  assert.equal(await w.count('form_submissions'), 0)
})

test('a refused page is shown again with the input, the problems and a valid token', async () => {
  const w = await formWorld()
  const form = await w.newForm({ fields })
  const values = {
    firstName: 'Marina "M"',
    email: 'nope@',
    colours: ['Blue'],
    newsletter: 'true',
    k_plan: 'gold',
    _token: await w.token(form),
  }
  const answer = await w.send(form.slug, values)
  assert.equal(answer.statusCode, 400)
  assert.match(answer.body, /value="Marina &#34;M&#34;"/)
  assert.match(answer.body, /<a href="#f-email">E-mail<\/a>: Must be an e-mail address\./)
  assert.match(answer.body, /id="f-email" required aria-invalid="true" aria-describedby="f-email-problem"/)
  assert.match(answer.body, /value="Blue" checked/)
  assert.doesNotMatch(answer.body, /value="Red" checked/)
  assert.match(answer.body, /name="newsletter" value="true" id="f-newsletter" checked/)
  assert.match(answer.body, /name="k_plan" value="gold"/)
  w.clock.advance(5_000)
  const again = await w.send(form.slug, { ...values, email: 'marina@example.com', _token: tokenIn(answer.body) })
  assert.equal(again.statusCode, 303)
  assert.equal((await w.leads()).length, 1)
})

test('an inactive form, and one of a workspace without leads, is 404: page, thanks, post and preflight', async () => {
  for (const active of [false, true]) {
    const w = await formWorld()
    const form = await w.newForm({ active })
    if (active) await w.db.sql`update workspaces set leads_enabled = false where id = ${w.workspaceId}`
    for (const url of [`/f/${form.slug}`, `/f/${form.slug}/thanks`]) {
      const page = await w.app.inject({ url, headers: { accept: 'text/html' } })
      assert.equal(page.statusCode, 404)
      assert.match(page.body, /Form not found/)
    }
    assert.equal((await w.send(form.slug, { firstName: 'Ana' })).statusCode, 404)
    assert.equal((await w.app.inject({ method: 'OPTIONS', url: `/f/${form.slug}` })).statusCode, 404)
    const json = await w.post(form.slug, { firstName: 'Ana' })
    assert.deepEqual([json.statusCode, json.json().statusMessage], [404, 'Form not found'])
    assert.equal(await w.count('form_submissions'), 0)
  }
})

test('an exhausted quota shows the page with a message and the input; JSON gets the common error', async () => {
  const w = await formWorld()
  await w.db.sql`update workspaces set daily_lead_quota = 1 where id = ${w.workspaceId}`
  const form = await w.newForm()
  assert.equal((await w.post(form.slug, { firstName: 'First' })).statusCode, 201)
  const page = await w.send(form.slug, { firstName: 'Second', _token: await w.token(form) })
  assert.equal(page.statusCode, 429)
  assert.match(page.body, /We cannot accept more submissions today/)
  assert.match(page.body, /value="Second"/)
  const json = await w.post(form.slug, { firstName: 'Third' })
  assert.deepEqual(json.json(), { statusCode: 429, statusMessage: 'Daily lead limit of forms reached' })
  assert.ok(Number(json.headers['retry-after']) > 0)
  assert.equal((await w.leads()).length, 1)
})

test('no input reaches the log', async () => {
  const w = await formWorld()
  const form = await w.newForm({ fields })
  const before = w.logLines.length
  await w.app.inject({ url: `/f/${form.slug}?k_secret=walrus` })
  await w.send(form.slug, { firstName: 'Walrus', email: 'walrus@', _token: await w.token(form) })
  await w.post(`${form.slug}?k_secret=walrus`, { firstName: 'Walrus', email: 'walrus@example.com' })
  const lines = w.logLines.slice(before)
  assert.ok(lines.length >= 3)
  assert.doesNotMatch(lines.join(''), /walrus|198\.18/i)
})
