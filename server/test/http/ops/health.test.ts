import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveHealth } from '../../../src/http/ops/health.ts'
import { testServer } from '../../support/http.ts'

test('the process is alive whatever the database does, and ready only when the database answers', async () => {
  const rows: [name: string, ask: () => Promise<unknown>, ready: number][] = [
    ['answers', async () => 1, 200],
    ['fails', async () => Promise.reject(new Error('gone')), 503],
  ]
  for (const [name, ask, ready] of rows) {
    const { app } = testServer()
    serveHealth(app, ask)
    assert.deepEqual((await app.inject('/healthz')).json(), { status: 'ok' })
    assert.equal((await app.inject({ method: 'HEAD', url: '/healthz' })).statusCode, 200)
    const answer = await app.inject('/readyz')
    assert.equal(answer.statusCode, ready, name)
    if (ready === 503) assert.deepEqual(answer.json().data, { code: 'DATABASE_UNAVAILABLE' })
  }
})

test('a question after its health that is none is refused like any other', async () => {
  const { app } = testServer()
  serveHealth(app, async () => 1)
  for (const path of ['/healthz', '/readyz']) {
    assert.equal((await app.inject(`${path}?a=1&a=2`)).statusCode, 400, path)
  }
})
