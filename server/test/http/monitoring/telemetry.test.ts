import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentPayload } from '../../../src/app/events.ts'
import { createScheduledJobs } from '../../../src/base/scheduled-jobs.ts'
import { parseTraceparent } from '../../../src/base/tracing/span.ts'
import { ConfigError, loadConfig } from '../../../src/config.ts'
import { conversationPath, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { startTracedApp } from '../../support/telemetry/traced.ts'
import { webhookWorld } from '../../support/webhooks/webhook-world.ts'
import { testTeamToken } from '../../support/world.ts'

const callersTrace = '4bf92f3577b34da6a3ce929d0e0e4736'
const callersSpan = '00f067aa0ba902b7'
const traceparent = `00-${callersTrace}-${callersSpan}-01`

test('a trace propagates from the request through statements and event to the webhook receiver', async () => {
  const { telemetry, collector, call } = await startTracedApp()
  const w = await webhookWorld()
  const worker = w.addWorker({ tracer: telemetry.tracer, present: presentPayload })
  const body = { firstName: 'Marina', phone: '+55 81 99123-4567' }
  const { status, headers } = await call(w)('POST', '/api/v1/leads', { body, headers: { traceparent } })
  assert.equal(status, 201)
  await worker.drain()
  await telemetry.close()

  const spans = collector.spans()
  const named = (name: string) => spans.find((span) => span.name === name) ?? assert.fail(`${name} is not among them`)
  const request = named('POST /api/v1/leads')
  assert.deepEqual([request.traceId, request.parentId], [callersTrace, callersSpan])
  assert.equal(request.attributes['http.request.method'], 'POST')
  assert.equal(request.attributes['http.route'], '/api/v1/leads')
  assert.equal(request.attributes['http.response.status_code'], '201')
  assert.equal(request.attributes['parley.workspace_id'], w.workspaceId)
  assert.equal(request.attributes['parley.request_id'], headers['x-request-id'])
  const insert = named('insert leads')
  assert.equal(insert.attributes['db.system.name'], 'postgresql')
  assert.equal(insert.traceId, callersTrace)

  const webhook = named('webhook lead.created')
  assert.equal(webhook.attributes['parley.endpoint_id'], w.endpointId)
  const call_ = spans.find((span) => span.parentId === webhook.spanId) ?? assert.fail('no call')
  assert.deepEqual([call_.name, call_.attributes['server.address']], ['POST', '127.0.0.1'])
  assert.equal(call_.attributes['http.response.status_code'], '204')
  const [{ headers: sent } = assert.fail()] = w.receiver.received
  assert.equal(sent.traceparent, `00-${callersTrace}-${call_.spanId}-01`)
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const orphans = spans.filter((span) => span !== request && !ids.has(span.parentId))
  assert.deepEqual(orphans, [], 'each is a part of another')
  assert.deepEqual([...new Set(spans.map(({ traceId }) => traceId))], [callersTrace])
})

test('sends and scheduled jobs are traced; health checks and polling are not', async () => {
  const { app, telemetry, collector, call } = await startTracedApp()
  const w = await inboxWorld({ key: { scopes: ['inbox.read', 'inbox.write'] } })
  const { id } = await w.customerWrites('Hello')
  const body = { kind: 'text', text: 'Good day' }
  const headers = { 'idempotency-key': randomUUID() }
  const sent = await call(w)('POST', `${conversationPath(id)}/messages`, { body, headers })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  await app.inject('/healthz')
  await app.inject('/readyz')
  const jobs = createScheduledJobs({ ...w, tracer: telemetry.tracer }, [
    { name: 'of-an-hour', everyMs: 1, work: async () => (await w.db.sql`select name from chores`).length },
    { name: 'of-a-moment', everyMs: 1, isQuiet: true, work: async () => 0 },
    { name: 'that-fails', everyMs: 1, work: async () => Promise.reject(new RangeError(customer.phone)) },
  ])
  await jobs.startDue()
  await jobs.idle()
  await telemetry.close()
  const spans = collector.spans()
  const send = spans.find(({ name }) => name === 'send')
  assert.deepEqual(send?.attributes, { 'parley.channel': 'waba', 'parley.outcome': 'accepted' })
  const runs = spans.filter(({ name }) => name.startsWith('job '))
  assert.deepEqual(runs.map(({ name }) => name).sort(), ['job of-an-hour', 'job that-fails'])
  const failed = runs.find(({ name }) => name === 'job that-fails')
  assert.deepEqual([failed?.isError, failed?.attributes['error.type']], [true, 'RangeError'])
  assert.ok(spans.some(({ name, parentId }) => name === 'select chores' && runs.some((c) => c.spanId === parentId)))
  assert.ok(!spans.some(({ name }) => /healthz|readyz/.test(name)))
})

const customer = {
  firstName: 'Quitéria',
  lastName: 'Vasconcelos',
  email: 'quiteria.vasconcelos@example.net',
  phone: '5581987651234',
  notes: 'Asks for the blue sofa of the second floor',
}

test('exports contain no phones, emails, names, texts, keys or queries', async () => {
  const { app, telemetry, collector, call } = await startTracedApp()
  const [w, inbox] = [await webhookWorld(), await inboxWorld({ key: { scopes: ['inbox.read', 'inbox.write'] } })]
  w.receiver.answer(() => ({ status: 500, body: customer.notes }))
  const ask = call(w)
  const made = await ask('POST', '/api/v1/leads?k_campaign=quiteria-spring', { body: customer })
  await ask('GET', `/api/v1/leads/${customer.phone}`)
  await ask('GET', '/api/v1/leads', { query: { search: customer.lastName } })
  await ask('PATCH', `/api/v1/leads/${made.body.data.id}`, { body: { notes: `${customer.notes}!` } })
  await ask('POST', '/api/v1/leads', {
    body: { ...customer, email: 'no-such' },
    headers: { 'x-request-id': customer.phone },
  })
  await ask('GET', `/api/v1/${customer.email}`, { headers: { traceparent: customer.phone, baggage: customer.email } })
  await ask('POST', '/api/v1/leads', { raw: `{"firstName": ${customer.firstName}` })
  const { id } = await inbox.customerWrites(customer.notes, {
    customer: { userId: null, parentUserId: null, phone: customer.phone, name: customer.lastName },
  })
  await call(inbox)('GET', '/api/v1/inbox/conversations', { query: { phone: customer.phone } })
  const send = { body: { kind: 'text', text: customer.notes }, headers: { 'idempotency-key': randomUUID() } }
  assert.equal((await call(inbox)('POST', `${conversationPath(id)}/messages`, send)).status, 202)
  await w.db.sql`select ${customer.email}::text where 1 / ${0}::integer = 1`.catch(() => {})
  await w.addWorker({ tracer: telemetry.tracer, present: presentPayload }).drain()
  await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${testTeamToken}` } })
  await telemetry.close()

  assert.ok(collector.spans().length > 20)
  const everything = Buffer.concat(collector.bodies).toString('latin1').toLowerCase()
  assert.ok(everything.includes(w.workspaceId), 'it is looked for where it would be found')
  const secrets = [
    ...Object.values(customer),
    ...[customer.phone.slice(-8), customer.notes.slice(0, 12), 'quiteria', w.key, inbox.key, testTeamToken],
    ...[w.secret.value, 'wamid.'],
  ]
  for (const secret of secrets) {
    const bytes = Buffer.from(secret).toString('latin1').toLowerCase()
    assert.ok(!everything.includes(bytes), `${secret} is in what was sent`)
  }
})

test('exported metrics match /metrics, plus requests under the semantic conventions', async () => {
  const { app, telemetry, collector, call } = await startTracedApp({
    OTEL_SERVICE_NAME: 'parley-of-the-shop',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test,service.name=other',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=shop%207',
  })
  const w = await webhookWorld()
  await call(w)('POST', '/api/v1/leads', { body: { firstName: 'Marina' } })
  const page = await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${testTeamToken}` } })
  const onPage = [...page.body.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '']) => name)
  await telemetry.close()
  const found = collector.metrics()
  assert.deepEqual(
    onPage.filter((name) => !found.some((metric) => metric.name === name)),
    [],
  )
  const seen = (name: string) => found.find((metric) => metric.name === name)?.series
  assert.ok(seen('parley_http_requests_total')?.some((one) => one.route === '/api/v1/leads' && one.status === '201'))
  const labels = { 'http.request.method': 'POST', 'http.response.status_code': '201', 'http.route': '/api/v1/leads' }
  assert.ok(seen('http.server.request.duration')?.some((one) => assert.deepEqual(one, labels) === undefined))
  const resource = collector.resource()
  assert.equal(resource['service.name'], 'parley-of-the-shop')
  assert.equal(resource['deployment.environment.name'], 'a test')
  assert.ok(collector.headers.every((one) => one['x-tenant'] === 'shop 7'))
})

test('an unsampled trace is propagated but not exported', async () => {
  const { telemetry, collector, call } = await startTracedApp()
  const w = await webhookWorld()
  // Data of earlier tests.
  await w.drain()
  const unkept = `00-${callersTrace}-${callersSpan}-00`
  await call(w)('POST', '/api/v1/leads', { body: { firstName: 'Marina' }, headers: { traceparent: unkept } })
  await w.addWorker({ tracer: telemetry.tracer }).drain()
  await telemetry.close()
  assert.deepEqual(collector.spans(), [])
  const [{ headers } = assert.fail()] = w.receiver.received
  assert.match(String(headers.traceparent), new RegExp(`^00-${callersTrace}-[0-9a-f]{16}-00$`))
})

test('valid W3C traceparents are accepted, others ignored', () => {
  const future = `cc-${callersTrace}-${callersSpan}-01-what-will-be`
  assert.equal(parseTraceparent(traceparent), traceparent)
  assert.equal(parseTraceparent(future), traceparent)
  const wrong = [
    undefined,
    '',
    traceparent.toUpperCase(),
    `${traceparent}-more`,
    `${traceparent}, ${traceparent}`,
    `ff-${callersTrace}-${callersSpan}-01`,
    `00-${'0'.repeat(32)}-${callersSpan}-01`,
    `00-${callersTrace}-${'0'.repeat(16)}-01`,
    `cc-${callersTrace}-${callersSpan}-01-${'x'.repeat(600)}`,
    `cc-${callersTrace}-${callersSpan}-01.more`,
  ]
  for (const text of wrong) assert.equal(parseTraceparent(text), null, String(text))
})

test('OpenTelemetry settings are off by default, and invalid ones are rejected by name', () => {
  const read = (env: Record<string, string>) => loadConfig(env).telemetry
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }
  assert.equal(read({}), null)
  assert.equal(read({ OTEL_SERVICE_NAME: 'shop' }), null)
  assert.equal(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), null)
  assert.equal(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }), null)
  assert.equal(read(endpoint)?.traces?.url, 'http://collector:4318/v1/traces')
  assert.equal(read(endpoint)?.metrics?.url, 'http://collector:4318/v1/metrics')
  assert.equal(read({ OTEL_TRACES_EXPORTER: 'otlp' })?.traces?.url, 'http://localhost:4318/v1/traces')
  assert.equal(read({ OTEL_TRACES_EXPORTER: 'otlp' })?.metrics, null)
  const ratio = read({ ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' })?.traces
  assert.deepEqual([ratio?.sampler, ratio?.ratio], ['traceidratio', 0.25])
  const wrong: [name: string, value: string][] = [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', 'many'],
  ]
  for (const [name, value] of wrong) {
    assert.throws(
      () => read({ ...endpoint, [name]: value }),
      (error) =>
        error instanceof ConfigError &&
        error.problems.length === 1 &&
        error.message.includes(name) &&
        (value === 'grpc' || !error.problems[0]?.includes(` ${value}`)),
    )
  }
})
