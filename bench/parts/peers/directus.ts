import { execFile, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Db, openDb } from '../../../server/src/base/db.ts'
import type { Child } from '../../child.ts'
import type { Database } from '../../database-address.ts'
import { person } from '../../people.ts'

const release = 'directus@12.4.0'
const database = 'directus'
export const directusToken = 'bench-token-of-directus'
const startTimeoutMs = 300_000
const rowsPerStatement = 1_000

export interface Directus extends Child {
  /** Ids of the first leads. */
  ids: string[]
}

/**
 * Installs Directus with npm into the folder, and starts it on a database of its own on the same server, with a
 * collection of the same leads. Throws if it can't be downloaded.
 */
export async function startDirectus(db: Db, address: Database, folder: string, leadCount: number): Promise<Directus> {
  await mkdir(folder, { recursive: true })
  await install(folder)
  await db.sql.unsafe(`create database ${database}`)
  const port = await freePort()
  const env = environment(address, port)
  const program = join(folder, 'node_modules', 'directus', 'cli.js')
  process.stderr.write('preparing the database of Directus\n')
  await promisify(execFile)(process.execPath, [program, 'bootstrap'], { cwd: folder, env })
  process.stderr.write('starting Directus\n')
  const child = spawn(process.execPath, [program, 'start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.pipe(createWriteStream(join(folder, 'directus.log')))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = () => {
    child.kill('SIGKILL')
    return exited
  }
  try {
    await waitUntilUp(port, () => child.exitCode !== null)
    await call(port, '/collections', collection)
    return { port, pid: child.pid ?? 0, stop, ids: await fill(address, leadCount) }
  } catch (error) {
    await stop()
    throw error
  }
}

async function install(folder: string): Promise<void> {
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder]
  process.stderr.write(`installing ${release} with npm, 700 MB\n`)
  await promisify(execFile)('npm', ['install', ...options, release], { cwd: folder }).catch((error: unknown) => {
    throw new Error(`npm failed to install ${release}. --peers needs a connection to the npm registry.`, {
      cause: error,
    })
  })
  // Only its scripts of users need this module, which would have to be compiled; no request here runs one.
  const compiled = join(folder, 'node_modules', 'isolated-vm', 'out')
  await mkdir(compiled, { recursive: true })
  await writeFile(join(compiled, 'isolated_vm.js'), 'module.exports = {}\n')
}

const environment = ({ socketFolder, user, password }: Database, port: number): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  ...{ HOST: '127.0.0.1', PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}`, SECRET: 'bench' },
  ...{ DB_CLIENT: 'pg', DB_HOST: socketFolder, DB_PORT: '5432', DB_DATABASE: database },
  ...{ DB_USER: user, DB_PASSWORD: password },
  ...{ ADMIN_EMAIL: 'bench@example.com', ADMIN_PASSWORD: 'bench-password', ADMIN_TOKEN: directusToken },
  ...{ TELEMETRY: 'false', NODE_ENV: 'production' },
})

async function waitUntilUp(port: number, hasEnded: () => boolean): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  while (performance.now() < deadline && !hasEnded()) {
    const answer = await fetch(`http://127.0.0.1:${port}/server/ping`).catch(() => undefined)
    if (answer?.ok) return
    await wait(100)
  }
  throw new Error('Directus failed to start: see directus.log')
}

async function call(port: number, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${directusToken}`, 'content-type': 'application/json' }
  const options = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, options)
  if (!answer.ok) throw new Error(`Directus answered ${answer.status} to ${path}: ${await answer.text()}`)
}

const texts = ['first_name', 'last_name', 'email', 'phone', 'status', 'source', 'priority', 'external_ref']

/** The same fields, with the indexes that an administrator would add. */
const collection = {
  collection: 'leads',
  schema: {},
  meta: {},
  fields: [
    { field: 'id', type: 'uuid', schema: { is_primary_key: true }, meta: { special: ['uuid'] } },
    ...texts.map((field) => ({ field, type: 'string', schema: {}, meta: {} })),
    { field: 'estimated_value', type: 'decimal', schema: { numeric_precision: 12, numeric_scale: 2 }, meta: {} },
    { field: 'created_at', type: 'timestamp', schema: {}, meta: { special: ['date-created'] } },
  ],
}

async function fill(address: Database, count: number): Promise<string[]> {
  const db = openDb({ ...address, database })
  try {
    await db.sql.unsafe('create unique index on leads (external_ref)')
    await db.sql.unsafe('create index on leads (created_at desc, id)')
    await db.sql.unsafe('create index on leads (status, created_at desc, id)')
    for (let done = 0; done < count; done += rowsPerStatement) {
      const people = Array.from({ length: Math.min(rowsPerStatement, count - done) }, (_, n) => directusLead(done + n))
      await db.sql`
        insert into leads (
          id, first_name, last_name, email, phone, status, source, priority, external_ref, estimated_value, created_at)
        select gen_random_uuid(), p.*, now()
        from jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as p (
          first_name text, last_name text, email text, phone text, status text, source text, priority text,
          external_ref text, estimated_value numeric)`
    }
    await db.sql.unsafe('vacuum analyze leads')
    const rows = await db.sql<{ id: string }[]>`select id from leads limit 5000`
    return rows.map(({ id }) => id)
  } finally {
    await db.close()
  }
}

/** Returns the n-th person as an item of the collection. */
export function directusLead(n: number): object {
  const { firstName, lastName, externalRef, estimatedValue, ...rest } = person(n)
  const names = { first_name: firstName, last_name: lastName, external_ref: externalRef }
  return { ...names, ...rest, estimated_value: estimatedValue }
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
  })
  return promise
}
