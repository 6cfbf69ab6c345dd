import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gaugesOf } from '../../app/gauges.ts'
import type { Runtime } from '../../app/runtime.ts'
import { openLimiter } from '../../auth/rate-limit/open-limiter.ts'
import { repeatAfterPause } from '../../base/async/loop.ts'
import { type Clock, correctedClock, type ShiftedClock, shiftedClock, systemClock } from '../../base/clock.ts'
import type { Db, DbOptions } from '../../base/db.ts'
import { instanceScope, type MasterKeys, openKeyStore } from '../../base/encryption/key-store.ts'
import {
  listSecrets,
  loadOrCreateMasterKeyFile,
  parseMasterKey,
  readPreviousMasterKeyFiles,
} from '../../base/encryption/secrets.ts'
import type { Log } from '../../base/log.ts'
import { migrate } from '../../base/migrate.ts'
import { openOutgoing } from '../../base/outgoing/guarded-fetch.ts'
import { relayMessages } from '../../base/pubsub.ts'
import type { Config } from '../../config.ts'
import { createSequencer } from '../../events/sequence.ts'
import { createMetrics } from '../../http/monitoring/metrics.ts'
import { openTelemetry } from '../../http/monitoring/telemetry/telemetry.ts'
import { openMemoryIndexes } from '../../leads/search/memory-index/client.ts'
import { createMailer } from '../../mail/mailer.ts'
import { openStore } from '../../media/open-store.ts'
import { ensurePushKeys } from '../../notifications/push/subscriptions.ts'
import { beginOpening, type PendingDatabase } from './begin-start.ts'

export interface OpenRuntime extends Runtime {
  localToken: string
  /** The service's clock if it can be moved, with a simulator; else null. */
  simulatedClock: ShiftedClock | null
  /** Options for further connections to the same database. */
  dbOptions: DbOptions
  /** Migrations applied by this start. */
  applied: string[]
  /** Closes everything in reverse order, continuing after errors. */
  close(): Promise<void>
}

/**
 * Opens the infrastructure of the app, with the database of a start if one is given. Throws errors whose messages tell
 * the operator what to do.
 */
export async function openRuntime(
  config: Config,
  say: (line: string) => void,
  pending?: PendingDatabase,
): Promise<OpenRuntime> {
  const outgoing = openOutgoing({ allowCidrs: config.allowCidrs })
  const { log, opening } = pending ?? beginOpening(config, say)
  const { db, options, close: closeDatabase } = await opening
  try {
    const { clock: wallClock, stop: stopClock } = await openClock(config, db, log)
    const simulatedClock = config.simulator.enabled ? shiftedClock(wallClock) : null
    const clock = simulatedClock ?? wallClock
    const { applied } = await migrate(db)
    if (applied.length > 0) say(`The database is up to date (${applied.length} new migrations)`)
    const masterKeys = await masterKeysOf(config, db)
    const keyStore = openKeyStore(db, masterKeys, clock)
    await keyStore.ensureInstanceSecrets()
    await ensurePushKeys({ db, keyStore, clock })
    const media = await openStore({ db, keyStore, clock }, config.media)
    const sharedDatabase = config.database.url !== null
    const limiter = await openLimiter({ redisUrl: config.redisUrl, sharedDatabase, db, clock, log })
    const { memoryBytes } = config.search
    const memoryIndexes =
      memoryBytes === 0
        ? undefined
        : openMemoryIndexes({ sql: db.sql, clock, log, db: options, masterKeys, maxBytes: memoryBytes })
    // An embedded database serves one process, so there are no others to notify.
    const stopRelay = sharedDatabase
      ? await relayMessages(db, (error) => log.warn('failed to publish a notification to other processes', {}, error))
      : () => {}
    const baseMetrics = createMetrics(gaugesOf({ db, clock, log }, config.database.maxConnections))
    const telemetry = await openTelemetry(config.telemetry, { log, metrics: baseMetrics })
    const mailer = config.mail === null ? null : createMailer(config.mail)
    const close = async () => {
      // First, because the last metrics read the database.
      await telemetry.close()
      await stopClock()
      stopRelay()
      outgoing.close()
      mailer?.close()
      try {
        await memoryIndexes?.close()
        await limiter.close()
        await media.close()
      } finally {
        await closeDatabase()
      }
    }
    const localToken = randomBytes(32).toString('base64url')
    const sequencer = createSequencer(db)
    const runtime = {
      config,
      log,
      clock,
      wallClock,
      db,
      keyStore,
      limiter,
      memoryIndexes,
      metrics: telemetry.metrics,
      tracer: telemetry.tracer,
      ...{ sequencer, outgoing, mailer, media },
      masterKeyFile: config.masterKey === null ? masterKeyPath(config) : null,
      localToken,
      simulatedClock,
      dbOptions: options,
    }
    return { ...runtime, applied, close }
  } catch (error) {
    await closeDatabase()
    throw error
  }
}

/** Interval of checks whether the machine's clock differs. */
const followEveryMs = 10_000

/**
 * Returns a clock that follows the database's, which all processes share, because clocks of machines may differ. The
 * embedded database uses this machine's clock.
 */
async function openClock(config: Config, db: Db, log: Log): Promise<{ clock: Clock; stop: () => Promise<void> }> {
  if (config.database.url === null) return { clock: systemClock, stop: async () => {} }
  const clock = correctedClock(systemClock, async () => {
    const [row] = await db.sql<{ at: Date }[]>`select clock_timestamp() as at`
    return row?.at ?? systemClock.now()
  })
  const follow = async () => {
    if (await clock.correct())
      log.warn('local clock is ahead of the database; correcting it', { aheadMs: clock.baseAheadMs() })
  }
  await follow()
  // While the database is unavailable the last offset applies.
  return { clock, stop: repeatAfterPause(followEveryMs, follow, () => {}).stop }
}

/** File of the master key if it is not in the settings. */
const masterKeyPath = (config: Config) => join(config.dataFolder, 'master.key')

async function masterKeysOf(config: Config, db: Db): Promise<MasterKeys> {
  const previous = config.previousMasterKeys.map(parseMasterKey)
  if (config.masterKey !== null) return { current: parseMasterKey(config.masterKey), previous }
  const path = masterKeyPath(config)
  // A new key could not decrypt the existing data, and would hide which file is missing.
  if (!existsSync(path) && (await listSecrets(db.sql, instanceScope)).length > 0) {
    throw new Error(
      `${path} is missing, and without it the data cannot be decrypted. Restore it, or set PARLEY_MASTER_KEY to its content.`,
    )
  }
  return { current: loadOrCreateMasterKeyFile(path), previous: [...previous, ...readPreviousMasterKeyFiles(path)] }
}
