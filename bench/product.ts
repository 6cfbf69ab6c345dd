// The product in its normal configuration, on a database filled by run.ts. Run by run.ts in a process of its own.

import { buildApp } from '../server/src/app/app.ts'
import { gaugesOf } from '../server/src/app/gauges.ts'
import { sendDeps } from '../server/src/app/inbox.ts'
import { createMemoryLimiter } from '../server/src/auth/rate-limit/limiter.ts'
import { createAutomationWorker } from '../server/src/automation/worker.ts'
import { startLoop } from '../server/src/base/async/loop.ts'
import { shiftedClock, systemClock } from '../server/src/base/clock.ts'
import { openDb } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { createLog } from '../server/src/base/log.ts'
import { openOutgoing } from '../server/src/base/outgoing/guarded-fetch.ts'
import { runStep } from '../server/src/base/run-step.ts'
import { loadConfig } from '../server/src/config.ts'
import { createSequencer } from '../server/src/events/sequence.ts'
import { createMetrics } from '../server/src/http/monitoring/metrics.ts'
import { openTelemetry } from '../server/src/http/monitoring/telemetry/telemetry.ts'
import { reindexIdle } from '../server/src/inbox/conversation/activity-columns.ts'
import { indexLeads } from '../server/src/leads/search/index-leads.ts'
import { openMemoryIndexes } from '../server/src/leads/search/memory-index/client.ts'
import { openFolderStore } from '../server/src/media/store/folder-store.ts'
import { databaseOf } from './database-address.ts'
import { benchMasterKey } from './workspace.ts'

const { SEARCH_MEMORY = '192', WARM, ...env } = process.env
const options = databaseOf(process.env)
const masterKeys = { current: benchMasterKey }
const clock = shiftedClock(systemClock)
// Simulates eleven minutes without requests: an unused index is evicted after ten.
process.on('SIGUSR2', () => clock.shiftTo(clock.shiftMs() + 660_000))
const db = openDb(options)
const log = createLog('info', { write: () => {} })
const maxBytes = Number(SEARCH_MEMORY) * 1_000_000
const images = openMemoryIndexes({
  sql: db.sql,
  clock,
  log,
  db: options,
  masterKeys,
  maxBytes,
  minLeads: WARM === undefined ? 20_000 : 1,
})
// Builds the indexes of these workspaces before the first request.
for (const workspaceId of WARM?.split(',') ?? []) {
  if (!(await images.warm(workspaceId))) throw new Error('No index of the workspace')
}
const [keyStore, sequencer] = [openKeyStore(db, masterKeys, clock), createSequencer(db)]
const telling = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('OTEL_')))
const config = loadConfig({
  // Counted but never reached: counting is part of the request path.
  PARLEY_LEADS_RATE_LIMIT: '1000000',
  PARLEY_INBOX_RATE_LIMIT: '1000000',
  PARLEY_TEAM_RATE_LIMIT: '0',
  ...telling,
})
const counted = createMetrics(gaugesOf({ db, clock, log }, 10))
const { tracer, metrics } = await openTelemetry(config.telemetry, { log, metrics: counted })
const runtime = {
  config,
  log,
  clock,
  db,
  keyStore,
  limiter: createMemoryLimiter(clock),
  ...(maxBytes > 0 && { memoryIndexes: images }),
  metrics,
  tracer,
  sequencer,
  // The platform of the inbox part runs on this machine.
  outgoing: openOutgoing({ allowCidrs: ['127.0.0.1/32'] }),
  // Never written to.
  media: openFolderStore('/nowhere'),
}
const app = await buildApp(runtime)
// Runs what `serve` runs beside its requests when leads and messages are written.
startLoop(
  { firstAfterMs: 1_000, pauseMs: 1_000 },
  async () => {
    await sequencer.sequenceAll()
    await indexLeads({ db, keyStore })
    await reindexIdle({ db, clock })
  },
  (error) => process.stderr.write(`${error}\n`),
)
createAutomationWorker({ ...runtime, sends: sendDeps(runtime), step: runStep }).start()
const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`ready ${new URL(address).port}\n`)
