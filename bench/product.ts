// The product as it is served, on a database that run.ts has filled. Run by run.ts in a process of its own.
import { createMemoryLimiter } from '../server/src/access/rate-limit-memory.ts'
import { buildApp } from '../server/src/app.ts'
import { gaugesOf } from '../server/src/app-gauges.ts'
import { systemClock } from '../server/src/base/clock.ts'
import { openDb } from '../server/src/base/db.ts'
import { openOutgoing } from '../server/src/base/guarded-fetch.ts'
import { createLog } from '../server/src/base/log.ts'
import { openVault } from '../server/src/base/vault.ts'
import { loadConfig } from '../server/src/config.ts'
import { createMetrics } from '../server/src/http/metrics.ts'
import { benchMasterKey } from './workspace.ts'

const { PG_SOCKET = '', PG_DATABASE = 'parley' } = process.env
const db = openDb({ socketFolder: PG_SOCKET, database: PG_DATABASE, user: 'parley' })
const log = createLog('info', { write: () => {} })
const app = await buildApp({
  // A limit that is counted but never reached: counting is part of the path.
  config: loadConfig({ PARLEY_LEADS_RATE_LIMIT: '1000000', PARLEY_INBOX_RATE_LIMIT: '1000000' }),
  log,
  clock: systemClock,
  db,
  vault: openVault(db, { current: benchMasterKey }, systemClock),
  limiter: createMemoryLimiter(systemClock),
  metrics: createMetrics(gaugesOf({ db, clock: systemClock, log }, 10)),
  outgoing: openOutgoing({ allowCidrs: [] }),
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`ready ${new URL(address).port}\n`)
