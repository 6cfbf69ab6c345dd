import { randomBytes } from 'node:crypto'
import { type Db, type DbOptions, openDb, type SentStatement } from '../../src/base/db.ts'
import { atEnd, oncePerFile } from './file-end.ts'
import { asAdmin, databaseOf, startTestServer, type TestServer } from './test-server.ts'

export interface TestDatabase {
  db: Db
  /** For a second pool on the same database, as another node of the service would have. */
  options: DbOptions
  name: string
}

const watchers = new Set<(statement: SentStatement) => void>()

/** Answers every statement that was sent to the databases of this test file meanwhile, each text once. */
export async function statementsOf(work: () => Promise<void>): Promise<SentStatement[]> {
  const seen = new Map<string, SentStatement>()
  const watch = (statement: SentStatement) => void (seen.has(statement.text) || seen.set(statement.text, statement))
  watchers.add(watch)
  try {
    await work()
  } finally {
    watchers.delete(watch)
  }
  return [...seen.values()]
}

/** The migrated database of this test file: the same one for all of its tests, dropped after the last. */
export const testDatabase: () => Promise<TestDatabase> = oncePerFile(() => makeDatabase((template) => template))

/** A database without a single table, for the tests of migrations. Another one at each call. */
export function emptyDatabase(): Promise<TestDatabase> {
  return makeDatabase(() => 'template0')
}

async function makeDatabase(source: (template: string) => string): Promise<TestDatabase> {
  const { admin, template } = await findServer()
  const name = `t_${randomBytes(8).toString('hex')}`
  await asAdmin(admin, `create database ${name} template ${source(template)}`)
  const options = databaseOf(admin, name)
  const onStatement = (statement: SentStatement) => {
    for (const watch of watchers) watch(statement)
  }
  const db = openDb({ ...options, onStatement })
  atEnd(async () => {
    await db.close()
    await asAdmin(admin, `drop database ${name} with (force)`)
  })
  return { db, options, name }
}

/** How a process of the service is told of the database. */
export function databaseSettings({ options }: TestDatabase): Record<string, string> {
  const { url, socketFolder = '', user = '', database = '', password = '' } = options
  if (url !== undefined) return { DATABASE_URL: url }
  const place = `host=${encodeURIComponent(socketFolder)}&user=${encodeURIComponent(user)}`
  return { DATABASE_URL: `postgres:///${database}?${place}`, PGPASSWORD: password }
}

/** The runner's server; a test file that is run by itself starts one of its own. */
const findServer = oncePerFile(async (): Promise<TestServer> => {
  const handed = process.env.PARLEY_TEST_SERVER
  if (handed !== undefined) return JSON.parse(handed) as TestServer
  const own = await startTestServer(process.env)
  atEnd(own.stop)
  return own
})
