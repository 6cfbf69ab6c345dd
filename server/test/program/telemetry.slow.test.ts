import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../src/config.ts'
import { commandsUnder } from '../support/program/operations.ts'
import { ask, newWorkspace, startService } from '../support/program/service.ts'
import { startCollector } from '../support/telemetry/collector.ts'

/** Nothing is handed over before the end. */
const late = { OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_METRIC_EXPORT_INTERVAL: '3600000' }

test('with the settings of "OpenTelemetry", a stop exports traces and metrics, and a hanging collector does not block it', async () => {
  const [line = '', ...more] = await commandsUnder('Monitor')
  assert.deepEqual(more, [])
  const words = line.trim().split(' ')
  const settings: Record<string, string> = Object.fromEntries(words.map((one) => one.split('=')))
  const { traces, metrics } = loadConfig(settings).telemetry ?? {}
  assert.deepEqual(
    [traces?.url, traces?.sampler, traces?.ratio, metrics?.url],
    ['http://otel-collector:4318/v1/traces', 'parentbased_traceidratio', 0.05, 'http://otel-collector:4318/v1/metrics'],
  )

  const collector = await startCollector()
  const env = { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1', ...late }
  const service = await startService({ env })
  const { key } = await newWorkspace(service.url)
  const create = async () => (await ask(service.url, key, 'POST /api/v1/leads', { firstName: 'Kim' })).status
  assert.equal(await create(), 201)
  assert.equal(collector.bodies.length, 0)
  await service.stop()
  assert.ok(collector.spans().some(({ name }) => name === 'POST /api/v1/leads'))
  assert.ok(collector.metrics().some(({ name }) => name === 'http.server.request.duration'))
  assert.equal(collector.resource()['service.name'], 'parley')

  collector.answer('wait')
  const again = await startService({ folder: service.folder, port: service.port, env })
  assert.equal(await create(), 201)
  await again.stop()
  const faults = [...service.lines(), ...again.lines()].filter((one) => one.includes('"level":"error"'))
  assert.deepEqual(faults, [])
})
