import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { openapiDocument, registerOpenApi } from '../../../src/http/contract/openapi.ts'
import { serveReference } from '../../../src/http/contract/reference.ts'
import { testServer } from '../../support/http.ts'

async function reference() {
  const { app } = testServer()
  await registerOpenApi(app)
  serveReference(app, 'https://parley.example')
  const schema = { operationId: 'listThings', summary: 'List things', security: [{ apiKey: [] }] }
  app.get('/api/v1/things', { schema }, async () => null)
  app.get('/api/team/v1/things', { schema: { ...schema, security: [{ session: [] }] } }, async () => null)
  await app.ready()
  return app
}

test('the document is sent in the smallest accepted encoding', async () => {
  const app = await reference()
  const text = JSON.stringify(openapiDocument(app))
  const rows: [accepted: string | undefined, encoding: string | undefined, read: (body: Buffer) => Buffer][] = [
    [undefined, undefined, (body) => body],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['br;q=0, gzip;q=1.0', 'gzip', gunzipSync],
    ['zstd', undefined, (body) => body],
  ]
  for (const [accepted, encoding, read] of rows) {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const answer = await app.inject({ url: '/openapi.json', headers })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-encoding'], encoding, `${accepted}`)
    assert.equal(answer.headers.vary, 'accept-encoding')
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(read(answer.rawPayload).toString(), text)
    assert.equal(answer.headers['content-length'], String(answer.rawPayload.length))
  }
})

test('a matching ETag gets 304', async () => {
  const app = await reference()
  for (const url of ['/openapi.json', '/postman.json']) {
    const first = await app.inject({ url, headers: { 'accept-encoding': 'br' } })
    const tag = String(first.headers.etag)
    assert.match(tag, /^"[\w-]{22}-br"$/)
    assert.match(String(first.headers['cache-control']), /^public, /)
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const headers = { 'accept-encoding': 'br', 'if-none-match': known }
      const again = await app.inject({ url, headers })
      assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', tag], `${url} ${known}`)
    }
    // Another encoding has another ETag.
    const other = await app.inject({ url, headers: { 'if-none-match': tag } })
    assert.equal(other.statusCode, 200)
    assert.notEqual(other.headers.etag, tag)
    const head = await app.inject({ method: 'HEAD', url, headers: { 'accept-encoding': 'br' } })
    assert.deepEqual([head.body, head.headers.etag], ['', tag])
  }
})

test('the reference page loads nothing from other hosts', async () => {
  const app = await reference()
  const page = await app.inject({ url: '/docs', headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
  assert.match(String(page.headers['content-security-policy']), /default-src 'self'; script-src 'self';/)
  assert.doesNotMatch(page.body, /https?:/)
  assert.match(page.body, /<noscript>[\s\S]*href="\/openapi.json"[\s\S]*<\/noscript>/)
  const script = await app.inject('/docs/scalar.js')
  assert.equal(script.statusCode, 200)
  assert.ok(script.rawPayload.length > 1_000_000)
})

test('programs get the reference as text with the routes for API keys', async () => {
  const app = await reference()
  for (const headers of [{}, { accept: '*/*' }, { accept: 'text/plain' }]) {
    const answer = await app.inject({ url: '/docs', headers })
    assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(answer.headers.vary, 'accept')
    assert.match(answer.body, /\/openapi\.json[\s\S]*\/postman\.json[\s\S]*GET {4}\/api\/v1\/things {2}List things\n$/)
    assert.doesNotMatch(answer.body, /team/)
  }
})
