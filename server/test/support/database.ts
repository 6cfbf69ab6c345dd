import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { assumeDistributed } from '../../src/base/citus/distributed-sql.ts'
import { type Db, type DbOptions, openDb, type SentStatement } from '../../src/base/db.ts'
import type { DatabaseLocation } from '../../src/base/postgres/connections.ts'
import { atEnd, oncePerFile } from './file-lifecycle.ts'
import { throughPooler } from './postgres/pooler.ts'
import { isRecording, recordStatement } from './statements/record.ts'
import { asAdmin, databaseOf, startTestServer, type TestServer } from './test-server.ts'

export interface TestDatabase {
  db: Db
  /** Options for a second pool on the same database, as another node would open. */
  options: DbOptions
  name: string
  /** Media folder that all processes on this database share. */
  mediaFolder: string
}

let isDirect = false

/** Bypasses the pooler for the databases of this file, for the given reason. */
export function bypassPooler(_reason: string): void {
  isDirect = true
  atEnd(async () => {
    isDirect = false
  })
}

const watchers = new Set<(statement: SentStatement) => void>()

/** Returns the distinct statements sent to the databases of this test file during `work`. */
export async function statementsOf(work: () => Promise<void>): Promise<SentStatement[]> {
  const seen = new Map<string, SentStatement>()
  for (const statement of await everyStatementOf(work)) {
    if (!seen.has(statement.text)) seen.set(statement.text, statement)
  }
  return [...seen.values()]
}

/** Returns all statements sent during `work`, with repetitions. */
export async function everyStatementOf(work: () => Promise<void>): Promise<SentStatement[]> {
  const sent: SentStatement[] = []
  const watch = (statement: SentStatement) => void sent.push(statement)
  watchers.add(watch)
  try {
    await work()
  } finally {
    watchers.delete(watch)
  }
  return sent
}

/** Returns the number of statements sent to the databases of this test file during `work`. */
export async function statementCountOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const watch = () => void count++
  watchers.add(watch)
  try {
    await work()
  } finally {
    watchers.delete(watch)
  }
  return count
}

/** Resolves when this many matching statements were sent to the databases of this test file. */
export function whenSent(pattern: RegExp, times = 1): Promise<void> {
  let left = times
  return new Promise((resolve) => {
    const watch = ({ text }: SentStatement) => {
      if (!pattern.test(text) || --left > 0) return
      watchers.delete(watch)
      resolve()
    }
    watchers.add(watch)
  })
}

/** Migrated database of this test file, shared by its tests and dropped after the last. */
export const testDatabase: () => Promise<TestDatabase> = oncePerFile(async () => {
  const server = await findServer()
  return server.isDistributed ? takeDistributedDatabase(server) : makeDatabase(server, server.template)
})

/** Returns the options of a test that does not apply to tables distributed by Citus, with the reason. */
export function skipIfDistributed(why: string): { skip: string | false } {
  return { skip: waitForRunnerServer()?.isDistributed ? why : false }
}

/** Creates an empty database, for tests of migrations. Returns a new one at each call. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return makeDatabase(await findServer(), 'template0')
}

/** Creates another migrated database, for transfers between installations. */
export async function migratedDatabase(): Promise<TestDatabase> {
  const server = await findServer()
  return makeDatabase(server, server.template)
}

async function makeDatabase(server: TestServer, source: string): Promise<TestDatabase> {
  const { admin, strategy, poolerFolder } = server
  const name = `t_${randomBytes(8).toString('hex')}`
  await asAdmin(admin, `create database ${name} template ${source} strategy ${strategy}`)
  const own = databaseOf(admin, name)
  const options = poolerFolder === undefined || isDirect ? own : throughPooler(poolerFolder, own)
  const db = openWatched(options)
  const mediaFolder = join(tmpdir(), `parley-media-${name}`)
  atEnd(async () => {
    await db.close()
    await asAdmin(admin, `drop database ${name} with (force)`)
    await rm(mediaFolder, { recursive: true, force: true })
  })
  return { db, options, name, mediaFolder }
}

/** Returns the distributed database with all tables empty. */
async function takeDistributedDatabase({ admin: options, template: name }: TestServer): Promise<TestDatabase> {
  const db = openWatched(options)
  const mediaFolder = join(tmpdir(), `parley-media-${randomBytes(8).toString('hex')}`)
  atEnd(async () => {
    await db.close()
    await rm(mediaFolder, { recursive: true, force: true })
  })
  const tables = await db.sql<{ name: string }[]>`
    select relname as name
    from pg_class
    where relkind in ('r', 'p')
      and relnamespace = 'public'::regnamespace
      and not relispartition
      and relname <> 'migrations'`
  await db.sql.unsafe(`truncate ${tables.map((table) => `"${table.name}"`).join(', ')}`)
  return { db, options, name, mediaFolder }
}

function openWatched(options: DbOptions): Db {
  const onStatement = (statement: SentStatement) => {
    recordStatement(statement)
    for (const watch of watchers) watch(statement)
  }
  return openNode({ ...options, onStatement })
}

/** Opens a new pool on a test database, as another node would. */
export function openNode(options: DbOptions): Db {
  const db = openDb(options)
  if (isRecording() || waitForRunnerServer()?.isDistributed) assumeDistributed(db.sql)
  return db
}

/** Returns the options without the pooler. */
export function withoutPooler({ direct, ...options }: DbOptions): DbOptions {
  return { ...options, ...direct }
}

/** Updates statistics and the visibility map of this test file's database, or of one table. */
export async function vacuum(table: string = ''): Promise<void> {
  // Runs outside any transaction, and without a pooler's statement limits.
  await asAdmin(withoutPooler((await testDatabase()).options), `vacuum analyze ${table}`)
}

/** Returns the settings with which a process of the service connects to the database. */
export function databaseSettings({ options, mediaFolder }: TestDatabase): Record<string, string> {
  const { direct, password = '' } = options
  return {
    DATABASE_URL: urlOf(options),
    PARLEY_MEDIA_URL: pathToFileURL(mediaFolder).href,
    ...(options.url === undefined && { PGPASSWORD: password }),
    ...(direct && { PARLEY_DATABASE_DIRECT_URL: urlOf(direct) }),
  }
}

function urlOf({ url, socketFolder = '', user = '', database = '' }: DatabaseLocation): string {
  return url ?? `postgres:///${database}?host=${encodeURIComponent(socketFolder)}&user=${encodeURIComponent(user)}`
}

/** Returns the runner's server; a test file run alone starts its own. */
const findServer = oncePerFile(async (): Promise<TestServer> => {
  const handed = waitForRunnerServer()
  if (handed !== null) return handed
  const own = await startTestServer(process.env)
  atEnd(own.stop)
  return own
})

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Waits until the runner's server has started; exits the process if it does not. */
function waitForRunnerServer(): TestServer | null {
  const path = process.env.PARLEY_TEST_SERVER
  if (path === undefined) return null
  while (!existsSync(path)) Atomics.wait(sleeper, 0, 0, 5)
  return JSON.parse(readFileSync(path, 'utf8')) as TestServer
}
