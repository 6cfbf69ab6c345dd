import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid } from '../../../src/base/id.ts'
import { testServer } from '../../support/http.ts'

function withRoute() {
  const { app } = testServer()
  app.get('/api/v1/leads', async () => ({ success: true }))
  app.get('/api/v1/broken', async () => {
    throw new Error('broken')
  })
  return app
}

const requests = [
  { url: '/api/v1/leads' },
  { url: '/api/v1/broken' },
  { url: '/nowhere' },
  { url: '/api/v1/leads', method: 'PUT' },
  { url: '/api/v1/%E0%A4%A' },
  {
    url: '/api/v1/leads',
    method: 'PUT',
    payload: 'x'.repeat(2_000_000),
    headers: { 'content-type': 'application/json' },
  },
] as const

test('every answer has a request id and the security headers', async () => {
  const app = withRoute()
  for (const request of requests) {
    const { headers } = await app.inject({ ...request })
    assert.ok(isUuid(String(headers['x-request-id'])), request.url)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'")
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})

test("a caller's request id is kept when it is a plain token", async () => {
  const app = withRoute()
  const rows: [sent: string, kept: boolean][] = [
    ['order-42_a.B', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['two words', false],
    ['<script>', false],
    ['', false],
  ]
  for (const [sent, kept] of rows) {
    for (const request of requests) {
      const { headers } = await app.inject({ url: request.url, headers: { 'x-request-id': sent } })
      assert.equal(headers['x-request-id'] === sent, kept, `${request.url} ${sent}`)
    }
  }
})
