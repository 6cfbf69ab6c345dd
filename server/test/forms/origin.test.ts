import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formEncoded, formWorld } from '../support/form-world.ts'

const w = await formWorld()
const listed = await w.newForm({ allowedOrigins: ['https://shop.example'] })
const open = await w.newForm({ allowedOrigins: ['*'] })
const none = await w.newForm()

const matrix: [form: typeof listed, origin: string | null, status: number, allowed: string | undefined][] = [
  [listed, 'https://shop.example', 201, 'https://shop.example'],
  [listed, 'https://shop.example:8443', 403, undefined],
  [listed, 'http://shop.example', 403, undefined],
  [listed, 'https://evil.shop.example', 403, undefined],
  [listed, 'https://shop.example.evil', 403, undefined],
  [listed, 'null', 403, undefined],
  [listed, '*', 403, undefined],
  [listed, 'http://127.0.0.1:7007', 201, undefined],
  [listed, 'http://localhost:80', 201, undefined],
  [listed, null, 201, undefined],
  [open, 'https://anyone.example', 201, 'https://anyone.example'],
  [open, 'null', 201, 'null'],
  [none, 'https://shop.example', 403, undefined],
  [none, null, 201, undefined],
]

test('posts are accepted from our own origin, without an origin, and from origins that a form lists', async () => {
  for (const [form, origin, status, allowed] of matrix) {
    const what = `${origin} to a form that lists [${form.allowedOrigins}]`
    const answer = await w.post(form.slug, { firstName: 'Ana' }, { host: 'localhost', ...(origin && { origin }) })
    assert.deepEqual([answer.statusCode, answer.headers['access-control-allow-origin']], [status, allowed], what)
    assert.equal(answer.headers.vary, 'Origin')
    if (status === 403) assert.match(answer.json().statusMessage, /allowedOrigins/)
  }
})

test('a preflight of a listed site gets the CORS headers, of another site 403', async () => {
  const preflight = (origin: string) =>
    w.app.inject({
      method: 'OPTIONS',
      url: `/f/${listed.slug}`,
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
  const answer = await preflight('https://shop.example')
  assert.equal(answer.statusCode, 204)
  assert.equal(answer.headers['access-control-allow-origin'], 'https://shop.example')
  assert.equal(answer.headers['access-control-allow-methods'], 'POST')
  assert.equal(answer.headers['access-control-allow-headers'], 'content-type, accept')
  assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  const refused = await preflight('https://evil.example')
  assert.equal(refused.statusCode, 403)
  assert.equal(refused.headers['access-control-allow-origin'], undefined)
})

test('scripts of a listed site can read errors', async () => {
  const headers = { origin: 'https://shop.example' }
  const answer = await w.post(listed.slug, {}, headers)
  assert.equal(answer.statusCode, 400)
  assert.equal(answer.headers['access-control-allow-origin'], 'https://shop.example')
  assert.deepEqual(answer.json().data.issues, [{ path: 'firstName', message: 'is required' }])
})

test('a plain form of a listed site needs no token and leads to the thank-you page', async () => {
  const headers = { ...formEncoded, origin: 'https://shop.example', accept: 'text/html' }
  const answer = await w.post(listed.slug, 'firstName=Ana', headers)
  assert.equal(answer.statusCode, 303)
  const foreign = { ...headers, origin: 'https://evil.example' }
  const refused = await w.post(listed.slug, 'firstName=A', foreign)
  assert.equal(refused.statusCode, 403)
  assert.match(String(refused.headers['content-type']), /^text\/html/)
})

test('a browser that hides its origin can still send our own page', async () => {
  const headers = { ...formEncoded, origin: 'null', accept: 'text/html' }
  const body = `firstName=Ana&_token=${await w.token(none)}`
  assert.equal((await w.post(none.slug, body, headers)).statusCode, 303)
  const forged = await w.post(none.slug, 'firstName=A&_token=x', headers)
  assert.equal(forged.statusCode, 400)
})

test('only listed sites can frame the page', async () => {
  const policy = async (slug: string) =>
    String((await w.app.inject({ url: `/f/${slug}` })).headers['content-security-policy'])
  assert.match(await policy(listed.slug), /frame-ancestors 'self' https:\/\/shop\.example$/)
  assert.match(await policy(none.slug), /frame-ancestors 'self'$/)
  assert.match(await policy(open.slug), /frame-ancestors \*$/)
})
