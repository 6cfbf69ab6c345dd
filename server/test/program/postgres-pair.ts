import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import { chown, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseDatabaseUrl } from '../../src/base/postgres/address.ts'
import { connect } from '../../src/base/postgres/connect.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { newFolder } from '../support/folder.ts'
import { freePort } from '../support/program/service.ts'
import { until } from '../support/until.ts'

export const howToGetPostgres = 'PostgreSQL 15 is missing: apt-get install postgresql-15'

/** Two servers, one of which follows the other. What the first commits is on the second before it is acknowledged. */
export interface PostgresPair {
  /** Of both, in the order in which they were made. */
  url: string
  /** Ends the primary as a crash does. */
  kill(): Promise<void>
  /** Has it shut down in good order. */
  stop(): Promise<void>
  /** The primary says nothing any more, and takes up every connection. */
  freeze(): void
  /** The standby takes its place, and waits for nobody. */
  promote(): Promise<void>
  /** Ends the one that follows, for which the primary waits all the same. */
  loseStandby(): Promise<void>
  /** What was the primary follows from now on, from wherever it was left. */
  rejoin(): Promise<void>
}

interface Member {
  port: number
  data: string
  process: ChildProcess | null
}

const bin = '/usr/lib/postgresql/15/bin'
const nobody = 65_534
const isRoot = process.getuid?.() === 0
const user = isRoot ? { uid: nobody, gid: nobody } : {}
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  max_connections: 60,
  // How long a standby whose primary is gone goes on looking for it before it looks whether it is to be the next.
  wal_retrieve_retry_interval: '200ms',
}

export function hasPostgres(): boolean {
  try {
    accessSync(join(bin, 'pg_basebackup'), constants.X_OK)
    return true
  } catch {
    return false
  }
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await newFolder()
  if (isRoot) await chown(folder, nobody, nobody)
  const [first, second]: Member[] = [
    { port: await freePort(), data: join(folder, 'a'), process: null },
    { port: await freePort(), data: join(folder, 'b'), process: null },
  ]
  if (first === undefined || second === undefined) throw new Error('Two were made')
  const all = [first, second]
  // Before the folder goes.
  atEnd(async () => void (await Promise.all(all.map(killed))))
  await run('initdb', ['-D', first.data, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '-A', 'trust', '--no-sync'])
  await start(first)
  await say(first, 'create database parley')
  await follow(second, first)

  let [primary, standby] = [first, second]
  return {
    url: `postgres://postgres@${all.map(({ port }) => `127.0.0.1:${port}`).join()}/parley`,
    kill: () => killed(primary),
    stop: async () => {
      await run('pg_ctl', ['stop', '-D', primary.data, '-m', 'fast', '-s'])
    },
    freeze: () => {
      for (const pid of familyOf(primary)) process.kill(pid, 'SIGSTOP')
    },
    promote: async () => {
      await say(standby, `alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()')
      await run('pg_ctl', ['promote', '-D', standby.data, '-s'])
      ;[primary, standby] = [standby, primary]
    },
    loseStandby: () => killed(standby),
    rejoin: async () => {
      await killed(standby)
      await rm(standby.data, { recursive: true })
      await follow(standby, primary)
    },
  }
}

const run = (program: string, args: string[]) => promisify(execFile)(join(bin, program), args, { ...user, cwd: '/' })

async function start(member: Member): Promise<void> {
  const flags = Object.entries({ ...settings, port: member.port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  member.process = spawn(join(bin, 'postgres'), ['-D', member.data, ...flags], { ...user, cwd: '/', stdio: 'ignore' })
  await until(
    () =>
      say(member, 'select 1').then(
        () => true,
        () => false,
      ),
    'a server',
  )
}

/** A copy that follows, and for which the other waits from now on. */
async function follow(member: Member, primary: Member): Promise<void> {
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
  await run('pg_basebackup', [...from, '-D', member.data, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'])
  await start(member)
  await say(primary, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()')
  await until(async () => {
    const [row] = await say(primary, `select 1 from pg_stat_replication where sync_state = 'sync'`)
    return row !== undefined
  }, 'a standby that follows')
}

/** Asks one of the two, whichever it is at the moment. */
async function say({ port }: Member, ...statements: string[]): Promise<unknown[]> {
  const address = parseDatabaseUrl(`postgres://postgres@127.0.0.1:${port}/postgres?target_session_attrs=any`, {})
  const client = await connect(address, { applicationName: 'test', parameters: {} })
  client.on('error', () => {})
  let rows: unknown[] = []
  for (const statement of statements) rows = (await client.query(statement)).rows
  await client.end()
  return rows
}

async function killed({ process: server }: Member): Promise<void> {
  if (server === null || server.exitCode !== null || server.signalCode !== null) return
  const gone = new Promise((resolve) => server.once('exit', resolve))
  const family = familyOf({ process: server })
  server.kill('SIGKILL')
  await gone
  // Those of a frozen server notice nothing of it.
  for (const pid of family.slice(1)) endIfThere(pid)
}

function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}

/** The server's process, and those that it has started. */
function familyOf({ process: server }: Pick<Member, 'process'>): number[] {
  const pid = server?.pid
  if (pid === undefined) return []
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
  return [pid, ...children.map(Number)]
}

function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}
