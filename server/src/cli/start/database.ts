import { detectDistribution } from '../../base/citus/distributed-sql.ts'
import { refuseWorker } from '../../base/citus/table-placement.ts'
import { type Db, type DbOptions, openDb } from '../../base/db.ts'
import { startEmbeddedPostgres } from '../../base/embedded/embedded-postgres.ts'
import { createLog, describeError, type Log } from '../../base/log.ts'
import { migrate } from '../../base/migrate.ts'
import type { Config } from '../../config.ts'
import { describeProblem, printMessage, printResult } from '../terminal.ts'

export interface OpenDatabase {
  db: Db
  /** Options for further connections to the same database. */
  options: DbOptions
  close(): Promise<void>
}

const oldestVersion = 15
/** PgBouncer's error for session parameters that a server accepts. */
const poolerRefusal = /unsupported startup parameter/
const poolerHint =
  '. This is a pooler: point DATABASE_URL at it, and PARLEY_DATABASE_DIRECT_URL at the database itself.'

/** Connects to the configured database, or starts the embedded one; then `onSpawn` is called while it starts. */
export async function openDatabase(
  config: Config,
  log: Log,
  say: (line: string) => void,
  onSpawn: () => void = () => {},
): Promise<OpenDatabase> {
  const { address, directAddress, maxConnections } = config.database
  if (address !== null) {
    const direct = directAddress === null ? undefined : { address: directAddress }
    const options = { address, direct, maxConnections }
    const db = openDb({ ...options, onListening: listenLogger(log) })
    await checkServer(db).catch(async (error: unknown) => {
      await db.close()
      throw error
    })
    return { db, options, close: () => db.close() }
  }
  const server = await startEmbeddedPostgres({
    folder: config.dataFolder,
    log: say,
    onSpawn,
    onRestart: () => log.warn('embedded database exited; restarted it'),
  })
  const { socketFolder, user, database, password } = server
  const options = { socketFolder, user, database, password, maxConnections }
  const db = openDb({ ...options, onListening: listenLogger(log) })
  return {
    db,
    options,
    close: async () => {
      await db.close().catch(() => undefined)
      await server.stop()
    },
  }
}

/** Logs loss and restoration, which together show how long a process relied on polling. */
const listenLogger = (log: Log) => (isListening: boolean, error?: unknown) => {
  if (isListening) log.info('LISTEN connection restored')
  // Logged at each change of state, without the error: an outage logs that once every 30 s.
  else log.warn('LISTEN connection lost; polling until it is restored', { code: describeError(error).code ?? '' })
}

async function checkServer(db: Db): Promise<void> {
  const version = await readVersion(db)
  if (version < oldestVersion) {
    throw new Error(`Parley needs PostgreSQL ${oldestVersion} or newer; the server of DATABASE_URL is ${version}.`)
  }
  await refuseWorker(db.sql)
  await detectDistribution(db)
  const pooler = await db.poolerFeatures()
  if (pooler !== null && !pooler.isSameServer) {
    throw new Error(
      'PARLEY_DATABASE_DIRECT_URL must lead to the same server and database as DATABASE_URL, as the same ' +
        'user, bypassing the pooler: a session opened there is not visible on that server.',
    )
  }
}

async function readVersion(db: Db): Promise<number> {
  try {
    const [row] = await db.sql<{ version: number }[]>`
      select current_setting('server_version_num')::integer / 10000 as version`
    return row?.version ?? 0
  } catch (error) {
    const problem = describeProblem(error)
    const hint = poolerRefusal.test(problem) ? poolerHint : ''
    throw new Error(`The database of DATABASE_URL does not answer: ${problem}${hint}`)
  }
}

/** Applies migrations and exits; `serve` applies them at start. */
export async function migrateDatabase(config: Config, { json }: { json?: boolean }): Promise<void> {
  const { db, close } = await openDatabase(config, createLog(config.logLevel), printMessage)
  try {
    const { applied } = await migrate(db)
    const lines = applied.length === 0 ? ['The database was up to date.'] : applied.map((name) => `Applied ${name}`)
    printResult(json, { applied }, lines)
  } finally {
    await close()
  }
}
