import { detectDistribution } from '../../base/citus/distributed-sql.ts'
import { refuseWorker } from '../../base/citus/table-placement.ts'
import { type Db, type DbOptions, openDb } from '../../base/db.ts'
import { startEmbeddedPostgres } from '../../base/embedded/embedded-postgres.ts'
import { createLog, describeError, type Log } from '../../base/log.ts'
import { migrate } from '../../base/migrate.ts'
import type { Config } from '../../config.ts'
import { answer, describeProblem, say } from '../terminal.ts'

export interface OpenDatabase {
  db: Db
  /** For further connections to the same database. */
  options: DbOptions
  close(): Promise<void>
}

const oldestVersion = 15
/** What PgBouncer says to a session that asks for limits, as those of a server do. */
const poolerRefusal = /unsupported startup parameter/
const howToPool =
  '. That is a pooler: let DATABASE_URL lead to it, and PARLEY_DATABASE_DIRECT_URL to the database itself.'

/** Connects to the database of the settings, or starts the embedded one. */
export async function openDatabase(config: Config, log: Log, say: (line: string) => void): Promise<OpenDatabase> {
  const { address, directAddress, maxConnections } = config.database
  if (address !== null) {
    const direct = directAddress === null ? undefined : { address: directAddress }
    const options = { address, direct, maxConnections }
    const db = openDb({ ...options, onListening: hearingLogger(log) })
    await checkServer(db).catch(async (error: unknown) => {
      await db.close()
      throw error
    })
    return { db, options, close: () => db.close() }
  }
  const server = await startEmbeddedPostgres({
    folder: config.dataFolder,
    log: say,
    onRestart: () => log.warn('embedded database exited; restarted it'),
  })
  const { socketFolder, user, database, password } = server
  const options = { socketFolder, user, database, password, maxConnections }
  const db = openDb({ ...options, onListening: hearingLogger(log) })
  return {
    db,
    options,
    close: async () => {
      await db.close().catch(() => undefined)
      await server.stop()
    },
  }
}

/** What is said when it begins and when it ends says how long a process worked by looking alone. */
const hearingLogger = (log: Log) => (isHearing: boolean, error?: unknown) => {
  if (isHearing) log.info('LISTEN connection restored')
  // A change of state, which is logged each time: without the error, of which an outage has one line in 30 s.
  else log.warn('LISTEN connection lost; polling until it is restored', { code: describeError(error).code ?? '' })
}

async function checkServer(db: Db): Promise<void> {
  const version = await askVersion(db)
  if (version < oldestVersion) {
    throw new Error(`Parley needs PostgreSQL ${oldestVersion} or newer; the server of DATABASE_URL is ${version}.`)
  }
  await refuseWorker(db.sql)
  await detectDistribution(db)
  const pooler = await db.poolerAbilities()
  if (pooler !== null && !pooler.isSameServer) {
    throw new Error(
      'PARLEY_DATABASE_DIRECT_URL must lead to the server that DATABASE_URL leads to, to the same database, as the same ' +
        'user, and past the pooler: the session it opens is not to be seen there.',
    )
  }
}

async function askVersion(db: Db): Promise<number> {
  try {
    const [row] = await db.sql<{ version: number }[]>`
      select current_setting('server_version_num')::integer / 10000 as version`
    return row?.version ?? 0
  } catch (error) {
    const problem = describeProblem(error)
    const hint = poolerRefusal.test(problem) ? howToPool : ''
    throw new Error(`The database of DATABASE_URL does not answer: ${problem}${hint}`)
  }
}

/** Brings the database up to date and stops; `serve` does the same when it starts. */
export async function migrateDatabase(config: Config, { json }: { json?: boolean }): Promise<void> {
  const { db, close } = await openDatabase(config, createLog(config.logLevel), say)
  try {
    const { applied } = await migrate(db)
    const lines = applied.length === 0 ? ['The database was up to date.'] : applied.map((name) => `Applied ${name}`)
    answer(json, { applied }, lines)
  } finally {
    await close()
  }
}
