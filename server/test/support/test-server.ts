import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type DbOptions, openDb } from '../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../src/base/embedded/embedded-postgres.ts'
import { distribute, migrate } from '../../src/base/migrate.ts'
import { hasPooler, howToGetPooler, startPooler } from './postgres/pooler.ts'

/** Plain data, so that the runner can hand it to the test processes by environment. */
export interface TestServer {
  /** Where databases can be made and dropped. */
  admin: DbOptions
  /** A migrated database, to be cloned. */
  template: string
  /** How databases are cloned: page by page through the log, or file by file where that costs less. */
  strategy: 'wal_log' | 'file_copy'
  /** The template itself is each test file's database, one after the other: to spread another takes a minute. */
  isSpread?: boolean
  /** Where a pooler listens by which the databases are to be reached, if there is one. */
  poolerFolder?: string
}

export interface RunningTestServer extends TestServer {
  stop(): Promise<void>
}

export interface Scratch {
  folder: string
  /** Says where the server of the run is, once it has started: the processes of tests load meanwhile. */
  serverFile: string
  isMemory: boolean
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const memory = '/dev/shm'
const gib = 1024 ** 3
/** What is written at a time is a tenth of it; the installation takes most. */
const neededBytes = 6 * gib

/**
 * A new folder for all that the tests write, in memory where there is plenty: they make and drop hundreds of databases of a thousand
 * files each, and to begin and end these on a disk costs a multiple of what is done in them.
 */
export function makeScratch(): Scratch {
  const isMemory = process.env.TMPDIR === undefined && hasMemory()
  const folder = mkdtempSync(join(isMemory ? memory : tmpdir(), 'parley-tests-'))
  // As of any such folder: servers that root starts run as somebody else.
  chmodSync(folder, 0o1777)
  return { folder, serverFile: join(folder, 'server.json'), isMemory }
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    // Servers and installations are started from there; a container may not allow that.
    const mayRun = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .some((line) => line.split(' ')[1] === memory && !line.includes('noexec'))
    return mayRun && bavail * bsize >= neededBytes && freemem() >= neededBytes
  } catch {
    return false
  }
}

export interface ServerChoice {
  /** Has the tests go through PgBouncer. */
  pooler: boolean
  /** Has them run on tables that Citus distributes: `CITUS_URL` names the database, which is theirs for good. */
  spread: boolean
}

/** Starts the server of a test run, and writes down where it is. */
export async function startServerFor(
  choice: ServerChoice,
  env: NodeJS.ProcessEnv,
  scratch: Scratch,
): Promise<RunningTestServer> {
  const server = await startChosen(choice, env, scratch)
  const draft = `${scratch.serverFile}~`
  await writeFile(draft, JSON.stringify(server))
  await rename(draft, scratch.serverFile)
  return server
}

async function startChosen(
  { pooler, spread }: ServerChoice,
  env: NodeJS.ProcessEnv,
  scratch: Scratch,
): Promise<RunningTestServer> {
  if (spread) return startSpreadServer(env.CITUS_URL)
  if (!pooler) return startTestServer(env, scratch)
  if (!hasPooler()) throw new Error(howToGetPooler)
  const server = await startTestServer({}, scratch)
  const started = await startPooler(server.admin)
  return {
    ...server,
    poolerFolder: started.socketFolder,
    stop: async () => {
      await started.stop()
      await server.stop()
    },
  }
}

/** Starts an embedded server that is as fast as it can be, or uses the one that `DATABASE_URL` names. */
export async function startTestServer(
  env: NodeJS.ProcessEnv,
  { isMemory }: Pick<Scratch, 'isMemory'> = { isMemory: false },
): Promise<RunningTestServer> {
  const strategy = isMemory && !env.DATABASE_URL ? 'file_copy' : 'wal_log'
  if (env.DATABASE_URL) {
    const admin = { url: env.DATABASE_URL }
    const template = `parley_template_${randomBytes(4).toString('hex')}`
    await makeTemplate(admin, template)
    const drop = () => asAdmin(admin, `drop database if exists ${template} with (force)`)
    return { admin, template, strategy, stop: drop }
  }
  const cached = await cachedCluster()
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
  await copyFolder(cached, folder)
  return { ...(await startCluster(folder)), template, strategy }
}

const template = 'parley_template'

/**
 * Returns a data folder with the migrated template, made once for each set of migrations: to initialize a cluster and to migrate
 * takes two seconds, to copy it a tenth of one.
 */
async function cachedCluster(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  for (const file of globSync('server/migrations/*', { cwd: root }).sort()) hash.update(readFileSync(join(root, file)))
  const cached = join(root, 'node_modules/.cache/parley-tests', `postgres-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(cached)) return cached
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
  const { admin, stop } = await startCluster(folder, { keep: true })
  await makeTemplate(admin, template)
  await stop()
  const copy = `${cached}-${process.pid}`
  await copyFolder(folder, copy)
  await rm(folder, { recursive: true, force: true })
  // Another run may have been first.
  await rename(copy, cached).catch(() => rm(copy, { recursive: true, force: true }))
  return cached
}

/** Keeps owners: servers that root starts run as somebody else. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await promisify(execFile)('cp', ['-a', `${from}/.`, to])
}

/** Uses a database of a server with Citus: its tables are distributed over the servers that it knows, and kept. */
async function startSpreadServer(url: string | undefined): Promise<RunningTestServer> {
  if (!url) throw new Error('Set CITUS_URL to a database of a server with Citus: postgres://user@coordinator/database')
  const db = openDb({ url, maxConnections: 1 })
  try {
    await migrate(db)
    await distribute(db, () => {})
  } finally {
    await db.close()
  }
  return {
    admin: { url },
    template: new URL(url).pathname.slice(1),
    strategy: 'wal_log',
    isSpread: true,
    stop: async () => {},
  }
}

async function startCluster(
  folder: string,
  { keep = false } = {},
): Promise<{ admin: DbOptions; stop(): Promise<void> }> {
  // The data does not outlive the run, so nothing waits for the disk, and nobody tidies up behind the tests.
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    wal_level: 'minimal',
    max_wal_senders: 0,
    autovacuum: 'off',
    max_connections: 200,
  }
  const { socketFolder, password, stop } = await startEmbeddedPostgres({ folder, settings, log: () => {} })
  return {
    admin: { socketFolder, database: 'parley', user: 'parley', password },
    stop: async () => {
      await stop()
      if (!keep) await rm(folder, { recursive: true, force: true })
    },
  }
}

async function makeTemplate(admin: DbOptions, name: string): Promise<void> {
  await asAdmin(admin, `create database ${name} template template0 encoding 'UTF8'`)
  const db = openDb({ ...databaseOf(admin, name), maxConnections: 1 })
  try {
    await migrate(db)
  } finally {
    await db.close()
  }
}

/** Runs one statement that no transaction can hold, such as `create database`. */
export async function asAdmin(admin: DbOptions, statement: string): Promise<void> {
  const db = openDb({ ...admin, maxConnections: 1, applicationName: 'parley-tests' })
  try {
    await db.sql.unsafe(statement)
  } finally {
    await db.close()
  }
}

/** The same server, another database. */
export function databaseOf(admin: DbOptions, name: string): DbOptions {
  if (admin.url === undefined) return { ...admin, database: name }
  const url = new URL(admin.url)
  url.pathname = `/${name}`
  return { ...admin, url: url.href }
}
