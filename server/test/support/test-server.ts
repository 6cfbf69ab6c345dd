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

/** Plain data, so that the runner can pass it to the test processes in the environment. */
export interface TestServer {
  /** Connection that can create and drop databases. */
  admin: DbOptions
  /** Migrated database to clone. */
  template: string
  /** Strategy for cloning: page by page through the log, or file by file if that is cheaper. */
  strategy: 'wal_log' | 'file_copy'
  /** Test files use the template itself, one after the other, because distributing another database takes a minute. */
  isDistributed?: boolean
  /** Socket folder of the pooler for the databases, if there is one. */
  poolerFolder?: string
}

export interface RunningTestServer extends TestServer {
  stop(): Promise<void>
}

export interface Scratch {
  folder: string
  /** File with the server's address, written when it has started: test processes load in the meantime. */
  serverFile: string
  isMemory: boolean
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const memory = '/dev/shm'
const gib = 1024 ** 3
/** Test files write about a tenth of this at a time; the installation takes most. */
const neededBytes = 6 * gib

/**
 * Creates a folder for all files of the tests, in memory if there is enough: they create and drop hundreds of databases
 * with a thousand files each, which takes far longer on a disk than the tests themselves.
 */
export function makeScratch(): Scratch {
  const isMemory = process.env.TMPDIR === undefined && hasMemory()
  const folder = mkdtempSync(join(isMemory ? memory : tmpdir(), 'parley-tests-'))
  // Like any temporary folder: servers started by root run as another user.
  chmodSync(folder, 0o1777)
  return { folder, serverFile: join(folder, 'server.json'), isMemory }
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    // Servers and installations are started from it, which a container may forbid.
    const mayRun = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .some((line) => line.split(' ')[1] === memory && !line.includes('noexec'))
    return mayRun && bavail * bsize >= neededBytes && freemem() >= neededBytes
  } catch {
    return false
  }
}

export interface ServerChoice {
  /** Runs the tests through PgBouncer. */
  pooler: boolean
  /** Runs the tests on tables distributed by Citus: `CITUS_URL` names the database, which must be dedicated to them. */
  distributed: boolean
}

/** Starts the server of a test run, and writes its address to a file. */
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
  { pooler, distributed }: ServerChoice,
  env: NodeJS.ProcessEnv,
  scratch: Scratch,
): Promise<RunningTestServer> {
  if (distributed) return startDistributedServer(env.CITUS_URL)
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

/** Starts an embedded server tuned for speed, or uses the one in `DATABASE_URL`. */
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
 * Returns a data folder with the migrated template, cached for each set of migrations: creating it takes two seconds,
 * copying it a tenth of that.
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
  // Another run may have created it first.
  await rename(copy, cached).catch(() => rm(copy, { recursive: true, force: true }))
  return cached
}

/** Keeps file owners: servers started by root run as another user. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await promisify(execFile)('cp', ['-a', `${from}/.`, to])
}

/** Uses a database of a server with Citus: distributes its tables over the known servers, and keeps them. */
async function startDistributedServer(url: string | undefined): Promise<RunningTestServer> {
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
    isDistributed: true,
    stop: async () => {},
  }
}

async function startCluster(
  folder: string,
  { keep = false } = {},
): Promise<{ admin: DbOptions; stop(): Promise<void> }> {
  // The data does not outlive the run, so commits need no disk sync, and autovacuum is off.
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

/** Runs a statement that cannot run in a transaction, such as `create database`. */
export async function asAdmin(admin: DbOptions, statement: string): Promise<void> {
  const db = openDb({ ...admin, maxConnections: 1, applicationName: 'parley-tests' })
  try {
    await db.sql.unsafe(statement)
  } finally {
    await db.close()
  }
}

/** Returns the options of another database on the same server. */
export function databaseOf(admin: DbOptions, name: string): DbOptions {
  if (admin.url === undefined) return { ...admin, database: name }
  const url = new URL(admin.url)
  url.pathname = `/${name}`
  return { ...admin, url: url.href }
}
