import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildApp, buildWorkerApp } from '../../../src/app/app.ts'
import { gaugesOf } from '../../../src/app/gauges.ts'
import { inboxReceive } from '../../../src/app/inbox.ts'
import { createMemoryLimiter } from '../../../src/auth/rate-limit/limiter.ts'
import { openDb } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { App } from '../../../src/base/route.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { loadConfig } from '../../../src/config.ts'
import { sequenceEvents } from '../../../src/events/sequence.ts'
import { createMetrics } from '../../../src/http/monitoring/metrics.ts'
import { testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { testApp, testTeamToken, type World, world } from '../../support/world.ts'

const metricsToken = 'metrics-token-of-the-tests-01'

/** A separate server on the test database, so that it counts only the test's actions. */
async function measured(settings: Record<string, string> = {}): Promise<{ app: App; workerApp: App }> {
  const runtime = await testApp()
  const env = { PARLEY_TEAM_TOKEN: testTeamToken, PARLEY_METRICS_TOKEN: metricsToken, ...settings }
  const own = {
    ...runtime,
    config: loadConfig(env),
    limiter: createMemoryLimiter(runtime.clock),
    metrics: createMetrics(gaugesOf(runtime, 10)),
  }
  const [app, workerApp] = [await buildApp(own), await buildWorkerApp(own)]
  atEnd(async () => {
    await app.close()
    await workerApp.close()
  })
  return { app, workerApp }
}

async function readMetrics(app: App, token = metricsToken): Promise<Map<string, number>> {
  const reply = await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${token}` } })
  assert.equal(reply.statusCode, 200, reply.body)
  assert.match(String(reply.headers['content-type']), /^text\/plain; version=0\.0\.4/)
  return figuresOf(reply.body)
}

function figuresOf(page: string): Map<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

async function teamToken({ app, workspaceId }: World, input: object): Promise<string> {
  const reply = await app.inject({
    method: 'POST',
    url: `/api/team/v1/workspaces/${workspaceId}/tokens`,
    headers: { authorization: `Bearer ${testTeamToken}` },
    payload: input,
  })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json().value
}

test('the metrics token and operators can read metrics of all processes', async () => {
  const here = await world()
  const { app, workerApp } = await measured()
  const ownersToken = await teamToken(here, { name: 'Automation', role: 'owner' })
  const rows: [who: string, authorization: string | undefined, status: number][] = [
    ['nobody', undefined, 401],
    ['no bearer', `Basic ${metricsToken}`, 401],
    ['a wrong token', 'Bearer metrics-token-of-the-tests-02', 401],
    ['an API key', `Bearer ${here.key}`, 401],
    ['the owner of one workspace', `Bearer ${ownersToken}`, 403],
    ['the metrics token', `Bearer ${metricsToken}`, 200],
    ['an operator', `Bearer ${testTeamToken}`, 200],
  ]
  for (const [who, authorization, status] of rows) {
    for (const one of [app, workerApp]) {
      const reply = await one.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } })
      assert.equal(reply.statusCode, status, who)
    }
  }
})

test('the metrics token grants only metrics; without one, only operators can read them', async () => {
  const { app } = await measured()
  const headers = { authorization: `Bearer ${metricsToken}` }
  assert.equal((await app.inject({ url: '/api/team/v1/workspaces', headers })).statusCode, 401)
  const bare = await measured({ PARLEY_METRICS_TOKEN: '' })
  assert.equal((await bare.app.inject({ url: '/metrics', headers })).statusCode, 401)
  await readMetrics(bare.app, testTeamToken)
})

test('a metrics token under 24 characters is rejected at start', () => {
  assert.throws(() => loadConfig({ PARLEY_METRICS_TOKEN: 'short' }), /PARLEY_METRICS_TOKEN must have at least 24/)
})

test('requests are counted by route pattern, not by URL', async () => {
  const here = await world()
  const { app } = await measured()
  const headers = { authorization: `Bearer ${here.key}` }
  const { id } = await here.lead({ phone: '+55 11 98765-4321' })
  await app.inject({ url: `/api/v1/leads/${id}`, headers })
  await app.inject({ url: '/api/v1/leads/5511987654321', headers })
  await app.inject({ url: '/api/v1/leads/5511900000000', headers })
  await app.inject({ url: '/no/such/5511987654321', headers })
  const found = await readMetrics(app)
  const route = '/api/v1/leads/:identifier'
  const total = (labels: string) => found.get(`parley_http_requests_total{${labels}}`)
  assert.equal(total(`method="GET",route="${route}",status="200"`), 2)
  assert.equal(total(`method="GET",route="${route}",status="404"`), 1)
  assert.equal(total('method="GET",route="none",status="404"'), 1)
  assert.equal(found.get(`parley_http_request_seconds_count{method="GET",route="${route}"}`), 3)
})

test('labels contain no ids, phones, addresses or secrets', async () => {
  const here = await world()
  const { app } = await measured()
  const { id } = await here.lead({ phone: '+55 11 98765-4321' })
  await app.inject({ url: `/api/v1/leads/${id}`, headers: { authorization: `Bearer ${here.key}` } })
  const allowed =
    /^(method|route|status|channel|outcome|type|category|quality|result|job|scope|state|health|version|node|le|kind|space|major|minor|patch)$/
  for (const name of (await readMetrics(app)).keys()) {
    for (const [, label = '', value = ''] of name.matchAll(/(\w+)="([^"]*)"/g)) {
      assert.match(label, allowed, name)
      assert.doesNotMatch(value, /[0-9a-f]{8}-[0-9a-f]{4}|\d{7}|:\/\/|plk_/, name)
    }
  }
})

test('database metrics are read at most once per ten seconds', async () => {
  const here = await world()
  const { app } = await measured()
  const before = (await readMetrics(app)).get('parley_events_unsequenced')
  await here.lead()
  here.clock.advance(9_999)
  assert.equal((await readMetrics(app)).get('parley_events_unsequenced'), before)
  here.clock.advance(1)
  assert.equal((await readMetrics(app)).get('parley_events_unsequenced'), Number(before) + 1)
})

test('if the database is unavailable, only its metrics are missing', async () => {
  const { clock, db, log } = await testApp()
  const closed = openDb((await testDatabase()).options)
  await closed.close()
  const away = { ...db, sql: closed.sql }
  const page = await createMetrics(gaugesOf({ db: away, clock, log }, 10)).render()
  assert.doesNotMatch(page, /^parley_events_unsequenced /m)
  assert.match(page, /^parley_db_transactions\{state="waiting"\} 0$/m)
  assert.match(page, /^parley_build_info\{version="[^"]+",node="[^"]+"\} 1$/m)
  assert.match(page, /^nodejs_eventloop_lag_p99_seconds /m)
  assert.match(page, /^process_resident_memory_bytes /m)
})

test('sends are counted by channel and outcome, inbound items by type', async () => {
  const here = await inboxWorld()
  const figures = async () => figuresOf(await here.metrics.render())
  const before = await figures()
  const more = async (name: string) => ((await figures()).get(name) ?? 0) - (before.get(name) ?? 0)
  const message = customerMessage({ at: here.clock.now() })
  const keyring = await here.keyStore.keyring(here.workspaceId)
  const connection = await findConnection(here.db.sql, keyring, here.workspaceId, here.connectionId)
  assert.ok(connection !== undefined)
  await inboxReceive(here)(connection, [message, here.status('wamid.unknown', 'read')])
  assert.equal(await more('parley_received_total{channel="waba",type="message"}'), 1)
  assert.equal(await more('parley_received_total{channel="waba",type="status"}'), 1)

  const [{ id }] = await here.conversations()
  here.platform.answers.push({ outcome: 'unreachable', errorCode: 'timeout' })
  for (const expected of [502, 202]) {
    const sent = await here.app.inject({
      method: 'POST',
      url: `/api/team/v1/workspaces/${here.workspaceId}/inbox/conversations/${id}/messages`,
      headers: { authorization: `Bearer ${testTeamToken}`, 'idempotency-key': `send-${expected}` },
      payload: { kind: 'text', text: 'Hello' },
    })
    assert.equal(sent.statusCode, expected, sent.body)
  }
  assert.equal(await more('parley_sends_total{channel="waba",outcome="unreachable"}'), 1)
  assert.equal(await more('parley_sends_total{channel="waba",outcome="accepted"}'), 1)
  assert.equal(await more('parley_send_seconds_count{channel="waba"}'), 2)
})

test('queues of failing and healthy endpoints are counted separately', async () => {
  const here = await world()
  const { db, clock, workspaceId } = here
  await here.lead()
  await sequenceEvents(db, workspaceId)
  const addQueue = async (cursor: number, failures: number, retryAt: Date | null, state = 'active') => {
    const id = newId(clock.now())
    await db.sql`
      insert into webhook_endpoints (
        workspace_id, id, events, phone_visibility, settings, state, state_changed_at, created_at, updated_at
      )
      values (
        ${workspaceId}, ${id}, '{lead.*}', 'full', '', ${state}, ${clock.now()}, ${clock.now()}, ${clock.now()}
      )`
    await db.sql`
      insert into webhook_queues (workspace_id, endpoint_id, cursor, failures_in_a_row, retry_at)
      values (${workspaceId}, ${id}, ${cursor}, ${failures}, ${retryAt})`
  }
  await addQueue(1, 0, null)
  await addQueue(0, 0, null)
  await addQueue(0, 0, null, 'disabled')
  await addQueue(0, 5, clock.now())
  clock.advance(60_000)
  const found = figuresOf(await createMetrics(gaugesOf(here, 10)).render())
  const expected = {
    endpoints: [2, 1],
    endpoints_behind: [1, 1],
    queue_oldest_seconds: [60, 60],
    overdue_seconds: [0, 60],
  }
  for (const [name, [healthy, failing]] of Object.entries(expected)) {
    assert.equal(found.get(`parley_webhook_${name}{health="healthy"}`), healthy, name)
    assert.equal(found.get(`parley_webhook_${name}{health="failing"}`), failing, name)
  }
})
