import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTracedApp } from '../../support/telemetry/traced.ts'
import { until } from '../../support/until.ts'
import { webhookWorld } from '../../support/webhooks/webhook-world.ts'

test('a failing or hanging collector is logged once and does not affect the service', async () => {
  for (const how of ['refuse', 'wait', 'gone'] as const) {
    const { telemetry, collector, call } = await startTracedApp({
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_BSP_MAX_QUEUE_SIZE: '8',
      OTEL_METRICS_EXPORTER: 'none',
      ...(how === 'gone' && { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' }),
    })
    if (how !== 'gone') collector.answer(how)
    const w = await webhookWorld()
    const before = w.logLines.length
    const said = () => w.logLines.slice(before).filter((line) => line.includes('the collector'))
    for (let n = 0; n < 20; n++) {
      assert.equal((await call(w)('POST', '/api/v1/leads', { body: { firstName: 'Marina' } })).status, 201)
    }
    await until(() => said().length > 0, 'the log line')
    const words = ['failed to export traces to the collector; retrying']
    if (how === 'refuse') {
      collector.answer('take')
      await call(w)('POST', '/api/v1/leads', { body: { firstName: 'Marina' } })
      await until(() => said().length > 1, 'its end')
      words.push('export of traces to the collector restored')
    }
    const startedMs = performance.now()
    await telemetry.close()
    assert.ok(performance.now() - startedMs < 4_000, how)
    assert.deepEqual(
      said().map((line) => JSON.parse(line).msg),
      words,
      how,
    )
  }
})
