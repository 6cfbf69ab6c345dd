import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { freePort, newWorkspace, startService } from '../support/program/service.ts'
import { startCollector } from '../support/telemetry/collector.ts'

const hour = '3600000'
/** Nothing is handed over before the end. */
const late = { OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_METRIC_EXPORT_INTERVAL: hour }

test('told to stop, it hands over what it has traced and counted; a collector that hangs does not keep it', async () => {
  const collector = await startCollector()
  const folder = await newFolder()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...late }
  const service = await startService({ folder, port: await freePort(), env })
  const { key } = await newWorkspace(service.url)
  await createLead(service.url, key)
  assert.equal(collector.bodies.length, 0)
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
  assert.ok(collector.spans().some(({ name }) => name === 'POST /api/v1/leads'))
  assert.ok(collector.metrics().some(({ name }) => name === 'http.server.request.duration'))
  assert.equal(collector.resource()['service.name'], 'parley')

  collector.answer('wait')
  const again = await startService({ folder, port: await freePort(), env })
  await createLead(again.url, key)
  again.kill('SIGTERM')
  assert.equal(await again.gone, 0)
  const faults = [...service.lines(), ...again.lines()].filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(faults, [])
})

async function createLead(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const { status } = await fetch(`${url}/api/v1/leads`, { method: 'POST', headers, body: '{"firstName":"Kim"}' })
  assert.equal(status, 201)
}
