import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gaugesOf } from '../../app/gauges.ts'
import type { Runtime } from '../../app/runtime.ts'
import type { Limiter } from '../../auth/rate-limit/limiter.ts'
import { openLimiter } from '../../auth/rate-limit/open-limiter.ts'
import { repeatAfterPause } from '../../base/async/loop.ts'
import { type Clock, followedClock, type ShiftedClock, shiftedClock, systemClock } from '../../base/clock.ts'
import type { Db, DbOptions } from '../../base/db.ts'
import { instanceScope, type MasterKeys, openKeyStore } from '../../base/encryption/key-store.ts'
import {
  listSecrets,
  loadOrCreateMasterKeyFile,
  masterKeyFrom,
  readPreviousMasterKeyFiles,
} from '../../base/encryption/secrets.ts'
import { createLog, type Log } from '../../base/log.ts'
import { migrate } from '../../base/migrate.ts'
import { openOutgoing } from '../../base/outgoing/guarded-fetch.ts'
import { relayMessages } from '../../base/pubsub.ts'
import type { Config } from '../../config.ts'
import { createSequencer } from '../../events/sequence.ts'
import { createMetrics } from '../../http/monitoring/metrics.ts'
import { openTelemetry } from '../../http/monitoring/telemetry/telemetry.ts'
import { openMemoryIndexes } from '../../leads/search/memory-index/client.ts'
import { openStore } from '../../media/open-store.ts'
import { ensurePushKeys } from '../../notifications/push/subscriptions.ts'
import { openDatabase } from './database.ts'

export interface OpenRuntime extends Runtime {
  localToken: string
  /** The service's clock when it can be moved: with a simulator only. */
  simulatedClock: ShiftedClock | null
  /** For further connections to the same database. */
  dbOptions: DbOptions
  /** Migrations that this start has applied. */
  applied: string[]
  /** Takes everything down in the reverse order, whatever fails on the way. */
  close(): Promise<void>
}

/** Opens what the app stands on. Throws an error whose message tells the operator what to do. */
export async function openRuntime(config: Config, say: (line: string) => void): Promise<OpenRuntime> {
  makeDataFolder(config.dataFolder)
  const log = createLog(config.logLevel)
  const outgoing = openOutgoing({ allowCidrs: config.allowCidrs })
  const { db, options, close: closeDatabase } = await openDatabase(config, log, say)
  try {
    const { clock: wallClock, stop: stopClock } = await clockOf(config, db, log)
    const simulatedClock = config.simulator.enabled ? shiftedClock(wallClock) : null
    const clock = simulatedClock ?? wallClock
    const { applied } = await migrate(db)
    if (applied.length > 0) say(`The database is up to date (${applied.length} new migrations)`)
    const masterKeys = await masterKeysOf(config, db)
    const keyStore = openKeyStore(db, masterKeys, clock)
    await keyStore.ensureInstanceSecrets()
    await ensurePushKeys({ db, keyStore, clock })
    const media = await openStore({ db, keyStore, clock }, config.media)
    const limiter = await limiterOf(config, { db, clock, log })
    const { memoryBytes } = config.search
    const memoryIndexes =
      memoryBytes === 0
        ? undefined
        : openMemoryIndexes({ sql: db.sql, clock, log, db: options, masterKeys, maxBytes: memoryBytes })
    // An embedded database has one process: there is nobody to tell.
    const stopRelay =
      config.database.url === null
        ? () => {}
        : await relayMessages(db, (error) => log.warn('failed to publish a notification to other processes', {}, error))
    const counted = createMetrics(gaugesOf({ db, clock, log }, config.database.maxConnections))
    const { tracer, metrics, close: closeTelemetry } = await openTelemetry(config.telemetry, { log, metrics: counted })
    const close = async () => {
      // First: the last metrics tell of the database.
      await closeTelemetry()
      await stopClock()
      stopRelay()
      outgoing.close()
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
      metrics,
      tracer,
      sequencer,
      outgoing,
      media,
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

/** How often a process looks whether its machine's clock has moved. */
const followEveryMs = 10_000

/**
 * The database's clock, which processes of several machines share; those of the machines may differ. The embedded database has
 * that of this machine.
 */
async function clockOf(config: Config, db: Db, log: Log): Promise<{ clock: Clock; stop: () => Promise<void> }> {
  if (config.database.url === null) return { clock: systemClock, stop: async () => {} }
  const clock = followedClock(systemClock, async () => {
    const [row] = await db.sql<{ at: Date }[]>`select clock_timestamp() as at`
    return row?.at ?? systemClock.now()
  })
  const follow = async () => {
    if (await clock.follow())
      log.warn('local clock is ahead of the database; correcting it', { aheadMs: clock.baseAheadMs() })
  }
  await follow()
  // While the database is away the time goes on as it went.
  return { clock, stop: repeatAfterPause(followEveryMs, follow, () => {}).stop }
}

function limiterOf(config: Config, { db, clock, log }: Pick<Runtime, 'db' | 'clock' | 'log'>): Promise<Limiter> {
  return openLimiter({
    redisUrl: config.redisUrl,
    sharedDatabase: config.database.url !== null,
    db,
    clock,
    log: { warn: (_fields, message) => log.warn(message), info: (_fields, message) => log.info(message) },
  })
}

function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'an error'
    throw new Error(
      `The data folder ${folder} is not to be had (${code}). Set PARLEY_DATA_DIR to a folder that this user may write to.`,
    )
  }
}

/** Where the master key is kept when the settings do not give it. */
const masterKeyPath = (config: Config) => join(config.dataFolder, 'master.key')

async function masterKeysOf(config: Config, db: Db): Promise<MasterKeys> {
  const previous = config.previousMasterKeys.map(masterKeyFrom)
  if (config.masterKey !== null) return { current: masterKeyFrom(config.masterKey), previous }
  const path = masterKeyPath(config)
  // A new key would open nothing that is there, and would hide which file is missing.
  if (!existsSync(path) && (await listSecrets(db.sql, instanceScope)).length > 0) {
    throw new Error(
      `${path} is missing, and without it the data cannot be opened. Restore it, or set PARLEY_MASTER_KEY to its content.`,
    )
  }
  return { current: loadOrCreateMasterKeyFile(path), previous: [...previous, ...readPreviousMasterKeyFiles(path)] }
}
