import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Db, type DbOptions, openDb } from '../../../src/base/db.ts'
import { isServerOf } from '../../../src/base/embedded/cluster.ts'
import { startEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts'
import { sharedBuffers } from '../../../src/base/embedded/server-process.ts'
import { describeProblem } from '../../../src/cli/terminal.ts'
import { startProgram } from '../../support/program/program.ts'

const writingProgram = fileURLToPath(new URL('./writing-program.ts', import.meta.url))
const root = await mkdtemp(join(tmpdir(), 'parley-embedded-'))
// Most tests start and end with a stopped server whose cluster exists.
const folder = join(root, 'data')
const cluster = join(folder, 'postgres')
const silent = () => {}
const start = () => startEmbeddedPostgres({ folder, log: silent })
after(() => rm(root, { recursive: true, force: true, maxRetries: 5 }))

test('data survives a stop, and no server is left running', async () => {
  const first = await start()
  assert.ok(isServerOf(first.pid, cluster))
  await using(first, (db) => db.sql`create table kept as select 7 as n`)
  await first.stop()
  await first.exited
  assert.ok(!isServerOf(first.pid, cluster))

  const second = await start()
  const [row] = await using(second, (db) => db.sql`select n from kept`)
  assert.equal(row?.n, 7)
  await second.stop()
})

test('the server has durable writes, checksums, no TCP, and UTF-8', async () => {
  const server = await start()
  const names = [
    'fsync',
    'full_page_writes',
    'synchronous_commit',
    'data_checksums',
    'listen_addresses',
    'server_encoding',
  ]
  const rows = await using(
    server,
    (db) => db.sql`
      select name, setting
      from pg_settings
      where name = any(${names})`,
  )
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.setting])), {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    data_checksums: 'on',
    listen_addresses: '',
    server_encoding: 'UTF8',
  })
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.equal((await stat(server.socketFolder)).mode & 0o777, 0o700)
  await server.stop()
})

test('connections need the password, which is in a file for its owner alone', async () => {
  const server = await start()
  const file = join(folder, 'postgres.password')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.equal(await readFile(file, 'utf8'), server.password)
  for (const password of ['', 'wrong']) {
    await assert.rejects(
      using({ ...server, password }, (db) => db.sql`select 1`),
      isOfPassword,
    )
  }
  await server.stop()
  const written = await Promise.all(
    ['pg_hba.conf', '../postgres.log'].map((name) => readFile(join(cluster, name), 'utf8')),
  )
  assert.ok(!written.join('').includes(server.password))
})

const isOfPassword = (error: unknown) => /password|SASL/.test(describeProblem(error))

test('a cluster without a password, or with a lost one, requires one from the next start', async () => {
  const rules = join(cluster, 'pg_hba.conf')
  const before = await readFile(rules, 'utf8')
  await writeFile(rules, 'local all all trust\n')
  await rm(join(folder, 'postgres.password'))
  const program = startProgram([writingProgram, folder])
  await program.waitForLine('ack')
  program.kill()
  await program.exited
  await writeFile(rules, 'local all all trust\n')
  for (const lose of [() => rm(join(folder, 'postgres.password')), async () => {}]) {
    await lose()
    const server = await start()
    await using(server, (db) => db.sql`select 1`)
    await assert.rejects(
      using({ ...server, password: 'wrong' }, (db) => db.sql`select 1`),
      isOfPassword,
    )
    await server.stop()
  }
  assert.notEqual(await readFile(rules, 'utf8'), before)
})

test('shared buffers are an eighth of the memory within bounds, and WAL compression is off', async () => {
  const gigabyte = 1024 ** 3
  assert.deepEqual(
    [0.25, 1, 4, 64].map((memory) => sharedBuffers(memory * gigabyte)),
    ['128MB', '128MB', '512MB', '1024MB'],
  )
  const server = await start()
  const [row] = await using(
    server,
    (db) => db.sql<{ buffers: number; compression: string }[]>`
      select pg_size_bytes(current_setting('shared_buffers'))::float8 as buffers, current_setting('wal_compression') as compression`,
  )
  assert.equal(row?.compression, 'off')
  assert.ok((row?.buffers ?? 0) >= 128 * 1024 ** 2 && (row?.buffers ?? 0) <= gigabyte)
  await server.stop()
})

test('a second start on a folder in use is refused and names the process', async () => {
  const program = startProgram([writingProgram, folder])
  await program.waitForLine('ack')
  const refusal = `The data folder ${folder} is in use by process ${program.pid}. Stop it, or set PARLEY_DATA_DIR to another folder.`
  await assert.rejects(start(), { message: refusal })
  await program.waitForLine('ack')
  program.kill()
  await program.exited
  await (await start()).stop()
})

test('of concurrent starts, one succeeds and the others are refused', async () => {
  const fresh = join(root, 'contested')
  const starts = Array.from({ length: 4 }, () => startEmbeddedPostgres({ folder: fresh, log: silent }))
  const programs = Array.from({ length: 2 }, () => startProgram([writingProgram, fresh], { stderr: 'ignore' }))
  const results = await Promise.allSettled(starts)
  const won = results.filter((result) => result.status === 'fulfilled')
  const refused = results.filter((result) => result.status === 'rejected').map((result) => result.reason.message)
  assert.equal(won.length, 1)
  assert.ok(refused.length === 3 && refused.every((message) => message.includes('is in use by')))
  assert.deepEqual(await Promise.all(programs.map((program) => program.exited)), [1, 1])
  await won[0]?.value.stop()
})

test('the server of a killed program is replaced by the next start without manual steps', async () => {
  const program = startProgram([writingProgram, folder])
  const orphan = Number(await program.waitForLine('database'))
  await program.waitForLine('ack')
  program.kill()
  await program.exited
  assert.ok(isServerOf(orphan, cluster))

  const lines: string[] = []
  const server = await startEmbeddedPostgres({ folder, log: (line) => lines.push(line) })
  assert.ok(!isServerOf(orphan, cluster))
  assert.deepEqual(lines, [`Stopping the database that an earlier run left behind (process ${orphan})`])
  await using(server, (db) => db.sql`select 1`)
  await server.stop()
})

test('a killed server restarts by itself, and open pools continue', async () => {
  const { promise: restarted, resolve: onRestart } = Promise.withResolvers<void>()
  const lines: string[] = []
  const server = await startEmbeddedPostgres({ folder, log: (line) => lines.push(line), onRestart })
  await using(server, async (db) => {
    await db.sql`select 1`
    const killed = server.pid
    process.kill(killed, 'SIGKILL')
    await restarted
    assert.notEqual(server.pid, killed)
    // A pool may still have a dead connection, which it notices at the first statement.
    await db.sql`select 1`.catch(silent)
    const [row] = await db.sql`select 2 as n`
    assert.equal(row?.n, 2)
  })
  assert.deepEqual(lines, ['The database ended unexpectedly (SIGKILL); starting it again'])
  await server.stop()
})

test('a stop during a restart stops the server for good', async () => {
  const server = await start()
  process.kill(server.pid, 'SIGKILL')
  await server.stop()
  await (await start()).stop()
})

test('a program that crashes without stopping its server leaves none running', async () => {
  const program = startProgram([
    '--eval',
    `const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('../../../src/base/embedded/embedded-postgres.ts', import.meta.url))})
     const server = await startEmbeddedPostgres({ folder: ${JSON.stringify(folder)}, log: () => {} })
     console.log('database ' + server.pid)
     process.exit(3)`,
  ])
  const pid = Number(await program.waitForLine('database'))
  assert.equal(await program.exited, 3)
  while (isServerOf(pid, cluster)) await once(spawn('true'), 'exit')
  await (await start()).stop()
})

test('a lock file whose pid belongs to another process does not prevent a start, and that process is not killed', async () => {
  const { uid, gid } = await stat(cluster)
  const stranger = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid, cwd: '/' } : {})
  await once(stranger, 'spawn')
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    await writeFile(join(cluster, name), `${stranger.pid}\n${cluster}\n1\n5432\n.\n\n0 0\nready   \n`)
  }
  const server = await start()
  await using(server, (db) => db.sql`select 1`)
  await server.stop()
  assert.equal(stranger.exitCode, null)
  stranger.kill()
})

test('an empty lock file of a killed server does not prevent a start', async () => {
  await writeFile(join(cluster, 'postmaster.pid'), '')
  await (await start()).stop()
})

test('leftovers of an interrupted first start are removed', async () => {
  await mkdir(join(folder, 'postgres.new-abc123', 'base'), { recursive: true })
  await (await start()).stop()
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.includes('new')),
    [],
  )
})

test('a data folder with a path too long for a socket is reached through a symlink', async () => {
  const long = join(root, 'a-rather-long-name-'.repeat(6), 'data')
  const server = await startEmbeddedPostgres({ folder: long, log: silent })
  assert.ok(server.socketFolder.length < 90)
  const [row] = await using(server, (db) => db.sql`select current_user as name`)
  assert.equal(row?.name, 'parley')
  await server.stop()
  await rm(server.socketFolder)
})

test('the log of the server contains nothing from statements or rows', async () => {
  const server = await start()
  const canary = 'ana.canary@example.com'
  await using(server, async (db) => {
    await db.sql`create table people (email text primary key, age int check (age > 0))`
    await db.sql`insert into people (email, age) values (${canary}, 1)`
    const failures = [
      db.sql`insert into people (email, age) values (${canary}, 2)`,
      db.sql`insert into people (email, age) values (${canary}, -1)`,
      db.sql`select ${canary}::text::uuid`,
      db.sql.unsafe(`select '${canary}'::int`),
      db.sql.unsafe(`select "${canary}"`),
      db.sql.unsafe(`selekt '${canary}'`),
      db.sql.unsafe(`do $$ begin raise warning '${canary}'; raise exception '${canary}'; end $$`),
    ]
    const results = await Promise.allSettled(failures)
    assert.ok(results.every((result) => result.status === 'rejected'))
  })
  await server.stop()
  const log = await readFile(join(folder, 'postgres.log'), 'utf8')
  assert.match(log, /database system is ready to accept connections/)
  assert.ok(!log.includes('canary'))
})

test('a large log is rotated at the next start', async () => {
  await writeFile(join(folder, 'postgres.log'), 'x'.repeat(5 * 1024 * 1024))
  await (await start()).stop()
  assert.ok((await stat(join(folder, 'postgres.log'))).size < 10_000)
  assert.equal((await stat(join(folder, 'postgres.log.1'))).size, 5 * 1024 * 1024)
})

test('data of another major version is refused and unchanged', async () => {
  const path = join(cluster, 'PG_VERSION')
  const version = await readFile(path)
  await writeFile(path, '17\n')
  await assert.rejects(start(), /was written by PostgreSQL 17, but this version of Parley includes 18\..*DATABASE_URL/)
  await writeFile(path, version)
  await (await start()).stop()
})

test('a platform without an embedded PostgreSQL gets advice to use an external one', async (t) => {
  const arch = Object.getOwnPropertyDescriptor(process, 'arch')
  t.after(() => arch && Object.defineProperty(process, 'arch', arch))
  Object.defineProperty(process, 'arch', { ...arch, value: 'riscv64' })
  await assert.rejects(
    start(),
    /embedded PostgreSQL is missing: .*riscv64 is not installed\. Set DATABASE_URL .*15 to 18/,
  )
})

test('invalid settings fail the start with the message of the server', async () => {
  const settings = { shared_buffers: 'many' }
  await assert.rejects(startEmbeddedPostgres({ folder, log: silent, settings }), /did not start.*\n.*shared_buffers/)
  await (await start()).stop()
})

test('a server is recognized by its folder', async () => {
  const server = await start()
  assert.ok(isServerOf(server.pid, cluster))
  assert.ok(!isServerOf(server.pid, join(root, 'contested', 'postgres')))
  assert.ok(!isServerOf(process.pid, cluster))
  await server.stop()
})

async function using<T>(server: DbOptions, work: (db: Db) => Promise<T>): Promise<T> {
  const { socketFolder = '', password = '' } = server
  const db = openDb({ socketFolder, password, maxConnections: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
