import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DbOptions, openDb } from '../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../src/base/embedded/embedded-postgres.ts'
import { distribute, migrate } from '../../src/base/migrate.ts'

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

const memory = '/dev/shm'
const gib = 1024 ** 3
/** What is written at a time is a tenth of it; the installation takes most. */
const neededBytes = 6 * gib

/**
 * A new folder for all that the tests write, in memory where there is plenty: they make and drop hundreds of databases of a thousand
 * files each, and to begin and end these on a disk costs a multiple of what is done in them.
 */
export function makeScratch(): { folder: string; isMemory: boolean } {
  const isMemory = process.env.TMPDIR === undefined && hasMemory()
  const folder = mkdtempSync(join(isMemory ? memory : tmpdir(), 'parley-tests-'))
  // As of any such folder: servers that root starts run as somebody else.
  chmodSync(folder, 0o1777)
  return { folder, isMemory }
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

/** The server of the tests: the one that `DATABASE_URL` names, else an embedded one that is as fast as it can be. */
export async function startTestServer(
  env: NodeJS.ProcessEnv,
  { isMemory } = { isMemory: false },
): Promise<RunningTestServer> {
  const server = env.DATABASE_URL ? { admin: { url: env.DATABASE_URL }, stop: async () => {} } : await startEmbedded()
  const template = `parley_template_${randomBytes(4).toString('hex')}`
  try {
    await makeTemplate(server.admin, template)
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    admin: server.admin,
    template,
    strategy: isMemory && !env.DATABASE_URL ? 'file_copy' : 'wal_log',
    stop: async () => {
      await asAdmin(server.admin, `drop database if exists ${template} with (force)`)
      await server.stop()
    },
  }
}

/** A database of a server with Citus, which is the tests' for good: it is spread over the servers that it knows, and kept. */
export async function startSpreadServer(url: string): Promise<RunningTestServer> {
  const db = openDb({ url, maxConnections: 1 })
  try {
    await migrate(db)
    await distribute(db, () => {})
  } finally {
    await db.close()
  }
  const template = new URL(url).pathname.slice(1)
  return { admin: { url }, template, strategy: 'wal_log', isSpread: true, stop: async () => {} }
}

async function startEmbedded(): Promise<{ admin: DbOptions; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
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
      await rm(folder, { recursive: true, force: true })
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
