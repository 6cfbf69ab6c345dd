import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Sql } from '../../../src/base/db.ts'
import { migrate } from '../../../src/base/migrate.ts'
import { databaseSettings, emptyDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { startCallers } from '../../support/program/callers.ts'
import { readsEveryFile, startDemo } from '../../support/program/installation.ts'
import { runCommandInProcess } from '../../support/program/run-command.ts'
import { ask, mainProgram, newWorkspace, serviceEnvironment } from '../../support/program/service.ts'
import { until } from '../../support/until.ts'

test('an embedded installation moves to an external database completely or not at all, and runs there', async () => {
  const service = await startDemo()
  const { folder } = service
  const { key } = await newWorkspace(service.url)
  const callers = startCallers({ url: service.url, key })
  await callers.more(50)
  await callers.stop()
  assert.deepEqual(callers.faults, [])

  const target = await emptyDatabase()
  const { db } = target
  const { PARLEY_MEDIA_URL: _, DATABASE_URL = '', PARLEY_DATABASE_DIRECT_URL, ...password } = databaseSettings(target)
  const to = PARLEY_DATABASE_DIRECT_URL ?? DATABASE_URL
  const env = serviceEnvironment(folder, 1, password)
  const parley = (...args: string[]) => runCommandInProcess(args, env)
  const refused = async (words: RegExp) => {
    const { exitCode, stderr } = await parley('move', '--to', to)
    assert.equal(exitCode, 1)
    assert.match(stderr, words)
  }

  await refused(/is in use by process \d+\. Stop it/)
  await service.stop()
  await db.sql`create table theirs (id integer)`
  await refused(/is not empty \(1 tables\)\. Nothing was changed/)
  await db.sql`drop table theirs`

  // Whatever a server, a database or a role has set otherwise than the embedded one.
  for (const setting of ["timezone = 'Asia/Tokyo'", "datestyle = 'German'", "bytea_output = 'escape'"])
    await db.sql.unsafe(`alter database "${target.name}" set ${setting}`)
  await interruptedHalfWay(db, to, env, async (_tx, { child }) => void child.kill('SIGKILL'))
  const cutOff = await interruptedHalfWay(db, to, env, async (tx) => {
    await tx`
      select pg_terminate_backend(pid, 5000)
      from pg_stat_activity
      where application_name = 'parley move'
        and datname = current_database()`
  })
  assert.match(cutOff, /because: terminating connection/)
  assert.match(cutOff, /Nothing was moved\. .* is unchanged\. Start the service on it, or run this again/)
  const still = await parley('workspace', 'list', '--json')
  assert.equal(JSON.parse(still.stdout).workspaces.length, 2)

  await killedWhileProving(db, to, env)
  const settings = {
    ...password,
    DATABASE_URL: to,
    PARLEY_MASTER_KEY: (await readFile(join(folder, 'master.key'), 'utf8')).trim(),
    PARLEY_MEDIA_URL: pathToFileURL(join(folder, 'media')).href,
  }
  const early = await runCommandInProcess(['workspace', 'list'], serviceEnvironment(folder, 1, settings))
  assert.match(early.stderr, /A move into this database is not finished: run parley move again/)
  const moved = await parley('move', '--to', to, '--json')
  assert.equal(moved.exitCode, 0, moved.stderr)
  const { proof, rows } = JSON.parse(moved.stdout)
  assert.deepEqual(proof.findings, [])
  assert.ok(rows > 400)
  assert.deepEqual([...(await db.sql`select from rate_limits limit 1`)], [])
  await refused(/was moved to another database: set DATABASE_URL/)
  const left = await parley('workspace', 'list')
  assert.match(left.stderr, /was moved to another database/)

  const there = await startDemo({ folder, env: settings })
  for (const { code } of callers.written) {
    assert.equal((await ask(there.url, key, `GET /api/v1/leads/${code}`)).status, 200, code)
  }
  await readsEveryFile(there.url)
})

type Target = Awaited<ReturnType<typeof emptyDatabase>>['db']

interface Move {
  child: ChildProcess
  /** What it said to people, once it has ended. */
  said: Promise<string>
}

function startMove(to: string, env: NodeJS.ProcessEnv): Move {
  const child = spawn(process.execPath, [mainProgram, 'move', '--to', to], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  atEnd(async () => void child.kill('SIGKILL'))
  return { child, said: text(child.stderr) }
}

/** Interrupts a move that has filled some tables and waits for another one. The rows that it brought are gone with it. */
async function interruptedHalfWay(
  db: Target,
  to: string,
  env: NodeJS.ProcessEnv,
  interrupt: (tx: Sql, move: Move) => Promise<void>,
): Promise<string> {
  await migrate(db)
  await db.sql.unsafe(`
    create function wait() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock(42);
        return null;
      end $$;
    create trigger wait before insert on leads for each statement execute function wait()`)
  const move = startMove(to, env)
  await db.tx(async (tx) => {
    await tx`select pg_advisory_xact_lock(42)`
    await until(() => isWaitedFor(tx, 'advisory'), 'a move that copies')
    await interrupt(tx, move)
    await move.said
  })
  // It takes the locks only once the move is undone.
  await db.sql`drop trigger wait on leads`
  await db.sql`drop function wait()`
  assert.deepEqual([...(await db.sql`select id from workspaces`)], [])
  return move.said
}

/** Kills a move that has committed its rows and counts them: another one starts over, and until then nobody serves them. */
async function killedWhileProving(db: Target, to: string, env: NodeJS.ProcessEnv): Promise<void> {
  const move = startMove(to, env)
  await db.tx(async (tx) => {
    // Nothing of it is moved, but it is counted with all others.
    await tx`lock table rate_limits in share update exclusive mode`
    await until(() => isWaitedFor(tx, 'relation'), 'a move that counts')
    move.child.kill('SIGKILL')
    await move.said
  })
  assert.equal((await db.sql`select from workspaces`).length, 2)
}

async function isWaitedFor(sql: Sql, what: 'advisory' | 'relation'): Promise<boolean> {
  const rows = await sql`
    select
    from pg_locks
    where locktype = ${what}
      and not granted
      and database = (select oid from pg_database where datname = current_database())`
  return rows.length > 0
}
