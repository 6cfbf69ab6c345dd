import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { assumeDistributed } from '../../src/base/citus/distributed-sql.ts'
import { type Db, type DbOptions, openDb, type SentStatement } from '../../src/base/db.ts'
import type { DatabaseLocation } from '../../src/base/postgres/connections.ts'
import { atEnd, oncePerFile } from './file-end.ts'
import { throughPooler } from './postgres/pooler.ts'
import { isRecording, recordStatement } from './statements/record.ts'
import { asAdmin, databaseOf, startTestServer, type TestServer } from './test-server.ts'

export interface TestDatabase {
  db: Db
  /** For a second pool on the same database, as another node of the service would have. */
  options: DbOptions
  name: string
  /** Where the processes that use it keep their files: all of them in the same folder. */
  mediaFolder: string
}

let isDirect = false

/** Where a pooler stands before the databases of the tests, those of this file are reached past it, for this reason. */
export function goDirect(_reason: string): void {
  isDirect = true
  atEnd(async () => {
    isDirect = false
  })
}

const watchers = new Set<(statement: SentStatement) => void>()

/** Answers every statement that was sent to the databases of this test file meanwhile, each text once. */
export async function statementsOf(work: () => Promise<void>): Promise<SentStatement[]> {
  const seen = new Map<string, SentStatement>()
  for (const statement of await everyStatementOf(work)) {
    if (!seen.has(statement.text)) seen.set(statement.text, statement)
  }
  return [...seen.values()]
}

/** The same, as often as each was sent. */
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

/** How many statements were sent to the databases of this test file meanwhile. */
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

/** Resolves once so many statements like this were sent to the databases of this test file. */
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

/** The migrated database of this test file: the same one for all of its tests, dropped after the last. */
export const testDatabase: () => Promise<TestDatabase> = oncePerFile(async () => {
  const server = await findServer()
  return server.isSpread ? takeSpread(server) : makeDatabase(server, server.template)
})

/** Returns the options of a test that says nothing of tables that Citus distributes over several servers, with the reason. */
export function onOneServer(why: string): { skip: string | false } {
  return { skip: handedServer()?.isSpread ? why : false }
}

/** A database without a single table, for the tests of migrations. Another one at each call. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return makeDatabase(await findServer(), 'template0')
}

/** Another migrated one, for what goes from one installation to the next. */
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

/** The one that is spread, with nothing in it. */
async function takeSpread({ admin: options, template: name }: TestServer): Promise<TestDatabase> {
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

/** A pool of its own on such a database, as another node of the service has. */
export function openNode(options: DbOptions): Db {
  const db = openDb(options)
  if (isRecording() || handedServer()?.isSpread) assumeDistributed(db.sql)
  return db
}

/** The same database past a pooler, should one stand before it. */
export function directly({ direct, ...options }: DbOptions): DbOptions {
  return { ...options, ...direct }
}

/** Counts the rows of this test file's database, or of one table, and notes which pages all may see. */
export async function vacuum(table: string = ''): Promise<void> {
  // In no transaction, nor in one that a pooler has a statement's limits in.
  await asAdmin(directly((await testDatabase()).options), `vacuum analyze ${table}`)
}

/** How a process of the service is told of the database. */
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

/** The runner's server; a test file that is run by itself starts one of its own. */
const findServer = oncePerFile(async (): Promise<TestServer> => {
  const handed = handedServer()
  if (handed !== null) return handed
  const own = await startTestServer(process.env)
  atEnd(own.stop)
  return own
})

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Waits until the runner's server has started, which ends this process if it does not. */
function handedServer(): TestServer | null {
  const path = process.env.PARLEY_TEST_SERVER
  if (path === undefined) return null
  while (!existsSync(path)) Atomics.wait(sleeper, 0, 0, 5)
  return JSON.parse(readFileSync(path, 'utf8')) as TestServer
}
