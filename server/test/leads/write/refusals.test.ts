import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildApp } from '../../../src/app/app.ts'
import { createMemoryLimiter } from '../../../src/auth/rate-limit/limiter.ts'
import { loadConfig } from '../../../src/config.ts'
import { leadPath, leadsPath, storedRows } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

const item = { match: { by: 'externalRef', value: 'r' }, lead: { firstName: 'A', notes: 'x' } }
const routes = [
  ['GET', leadsPath],
  ['POST', leadsPath, { firstName: 'A' }],
  ['GET', leadPath('r')],
  ['PATCH', leadPath('r'), { notes: 'x' }],
  ['DELETE', leadPath('r')],
  ['POST', `${leadPath('00000000-0000-7000-8000-000000000000')}/restore`],
  ['POST', `${leadsPath}/upsert`, item],
  ['POST', `${leadsPath}/bulk-upsert`, { items: [item] }],
] as const

async function callAll(
  w: World,
  check: (answer: Awaited<ReturnType<World['call']>>, route: string) => void,
  key?: string,
) {
  const before = await storedRows(w)
  for (const [method, path, body] of routes) {
    const answer = await w.call(method, path, { ...(body ? { body } : {}), ...(key === undefined ? {} : { key }) })
    check(answer, `${method} ${path}`)
    assert.equal(answer.body.statusCode, answer.status)
  }
  assert.deepEqual(await storedRows(w), before)
}

test('every route rejects an unknown key with 401 before any other check', async () => {
  const w = await world()
  await w.lead({ externalRef: 'r' })
  await callAll(
    w,
    ({ status, body, headers }, route) => {
      assert.equal(status, 401, route)
      assert.deepEqual(body, { statusCode: 401, statusMessage: 'API key missing or not valid' })
      assert.equal(headers['www-authenticate'], 'Bearer')
    },
    'plk_0000000000000000000000_000000',
  )
})

const needs: [needed: string, routes: (typeof routes)[number][]][] = [
  ['leads.read', routes.filter(([method]) => method === 'GET')],
  ['leads.write', routes.filter(([method, path]) => method === 'PATCH' || (method === 'POST' && path === leadsPath))],
  ['leads.delete', routes.filter(([method, path]) => method === 'DELETE' || path.endsWith('/restore'))],
  ['leads.write or leads.bulk', routes.filter(([, path]) => path.endsWith('/upsert'))],
  ['leads.bulk', routes.filter(([, path]) => path.endsWith('/bulk-upsert'))],
]

for (const [needed, those] of needs) {
  test(`a route that needs the scope ${needed} says so to a key with all others, whether or not the lead exists`, async () => {
    const w = await world()
    // leads.write may delete during the transition window, so it does not lack the scope.
    const others = (['leads.read', 'leads.write', 'leads.delete', 'leads.bulk'] as const)
      .filter((scope) => !needed.includes(scope))
      .filter((scope) => needed !== 'leads.delete' || scope !== 'leads.write')
    const { value: key } = await w.addKey({ scopes: others })
    for (const [method, path, body] of those) {
      const answer = await w.call(method, path, { key, ...(body && { body }) })
      const expected = { statusCode: 401, statusMessage: `API key lacks scope ${needed}` }
      assert.deepEqual([answer.status, answer.body], [401, expected], `${method} ${path}`)
    }
    for (const scope of needed.split(' or ')) {
      const { value } = await w.addKey({ scopes: [scope as 'leads.read'] })
      for (const [method, path, body] of those) {
        const answer = await w.call(method, path, { key: value, ...(body && { body }) })
        assert.notEqual(answer.status, 401, `${method} ${path} with ${scope}`)
      }
    }
  })
}

test('every route returns 403 without a code if the plan does not include leads', async () => {
  const w = await world()
  await w.lead({ externalRef: 'r' })
  await w.db.sql`update workspaces set leads_enabled = false where id = ${w.workspaceId}`
  const { value } = await w.addKey({ scopes: ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk'] })
  await callAll(
    w,
    ({ status, body }, route) => {
      assert.equal(status, 403, route)
      assert.equal(typeof body.statusMessage, 'string')
      assert.ok(!('data' in body))
    },
    value,
  )
})

test('every route counts towards the rate limit of its key, and beyond it returns 429 with Retry-After', async () => {
  const w = await world()
  await w.lead({ externalRef: 'r' })
  const config = loadConfig({ PARLEY_LEADS_RATE_LIMIT: String(routes.length), PARLEY_INBOX_RATE_LIMIT: '0' })
  const app = await buildApp({ ...w, config, limiter: createMemoryLimiter(w.clock) })
  const call = (method: (typeof routes)[number][0], url: string, payload?: object) =>
    app.inject({ method, url, headers: { authorization: `Bearer ${w.key}` }, ...(payload ? { payload } : {}) })
  try {
    for (const [n, [method, path, body]] of routes.entries()) {
      const answer = await call(method, path, body)
      assert.notEqual(answer.statusCode, 429)
      assert.equal(answer.headers['ratelimit-remaining'], String(routes.length - n - 1))
    }
    const before = await storedRows(w)
    for (const [method, path, body] of routes) {
      const answer = await call(method, path, body)
      assert.equal(answer.statusCode, 429, `${method} ${path}`)
      assert.equal(answer.json().statusCode, 429)
      assert.deepEqual(answer.json().data, { code: 'RATE_LIMITED' })
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
    }
    assert.deepEqual(await storedRows(w), before)
  } finally {
    await app.close()
  }
})

test('leads.write still deletes, with a warning, but does not restore', async () => {
  const w = await world()
  const { id } = await w.lead({ externalRef: 'r' })
  const { value: key } = await w.addKey({ scopes: ['leads.write'] })
  const { status, headers } = await w.call('DELETE', leadPath('r'), { key })
  assert.deepEqual([status, 'x-service-deprecation-warning' in headers, 'warning' in headers], [200, true, true])
  assert.equal((await w.call('POST', `${leadPath(id)}/restore`, { key })).status, 401)
})

test('GET, DELETE and restore ignore a body', async () => {
  const w = await world()
  const { id } = await w.lead({ externalRef: 'r' })
  const options = { raw: '{"any": "thing"}' }
  assert.equal((await w.call('GET', leadPath('r'), options)).status, 200)
  assert.equal((await w.call('DELETE', leadPath('r'), options)).status, 200)
  assert.equal((await w.call('POST', `${leadPath(id)}/restore`, options)).status, 200)
})
