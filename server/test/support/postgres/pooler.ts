import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { DbOptions } from '../../../src/base/db.ts'

/** Server that is reachable by a socket, such as the embedded one. */
export type PooledServer = Pick<DbOptions, 'socketFolder' | 'user' | 'password'>

export interface Pooler {
  /** Folder of its socket, with the same port number as the server. */
  socketFolder: string
  /** Restarts it at the same address; disconnects all clients. */
  restart(settings?: PoolerSettings): Promise<void>
  /** Stops it until it is restarted. */
  pause(): Promise<void>
  stop(): Promise<void>
}

export type PoolerSettings = Readonly<Record<string, string | number>>

const nobody = 65_534
/** `PGBOUNCER` overrides the path of Debian's, for example with one that supports prepared statements. */
const program = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'

export const howToGetPooler = 'PgBouncer is missing: apt-get install pgbouncer'

export function hasPooler(): boolean {
  try {
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Returns why no pooler can run in front of this run's server; false if one can. */
export function reasonWithoutPooler(): string | false {
  if (!hasPooler()) return howToGetPooler
  return process.env.DATABASE_URL
    ? 'The PgBouncer of the tests reaches a server by its socket: not DATABASE_URL'
    : false
}

/** Starts PgBouncer in transaction mode in front of a server, for all of its databases. */
export async function startPooler(server: PooledServer, settings: PoolerSettings = {}): Promise<Pooler> {
  if (!hasPooler()) throw new Error(howToGetPooler)
  const socketFolder = await mkdtemp(join(tmpdir(), 'parley-pooler-'))
  const runsAsRoot = process.getuid?.() === 0
  if (runsAsRoot) await chown(socketFolder, nobody, nobody)
  await chmod(socketFolder, 0o755)
  const start = (changed: PoolerSettings) => run(socketFolder, server, { ...settings, ...changed }, runsAsRoot)
  let running = await start({})
  return {
    socketFolder,
    async restart(changed = {}) {
      await end(running)
      running = await start(changed)
    },
    pause: () => end(running),
    async stop() {
      await end(running)
      await rm(socketFolder, { recursive: true, force: true })
    },
  }
}

async function run(
  folder: string,
  server: PooledServer,
  settings: PoolerSettings,
  runsAsRoot: boolean,
): Promise<ChildProcess> {
  const { socketFolder = '', user = '', password = '' } = server
  const users = join(folder, 'userlist.txt')
  const config = join(folder, 'pgbouncer.ini')
  await writeFile(users, `"${user}" "${password}"\n`)
  // It refuses to run as root, and can enter the server's folder only if it starts in it, as the server itself does.
  const host = runsAsRoot ? '/proc/self/cwd' : socketFolder
  await writeFile(config, configOf(host, { ...defaults(folder, users), ...settings }))
  const child = spawn(program, [config], {
    cwd: runsAsRoot ? socketFolder : folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(runsAsRoot && { uid: nobody, gid: nobody }),
  })
  await isUp(child)
  return child
}

const defaults = (folder: string, users: string): PoolerSettings => ({
  pool_mode: 'transaction',
  unix_socket_dir: folder,
  listen_port: 5432,
  auth_type: 'scram-sha-256',
  auth_file: users,
  max_client_conn: 2000,
  default_pool_size: 20,
  // Test databases are short-lived, and the server limits connections.
  server_idle_timeout: 5,
  ignore_startup_parameters: '',
})

const configOf = (host: string, settings: PoolerSettings): string =>
  [
    '[databases]',
    `* = host=${host} port=5432`,
    '[pgbouncer]',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    '',
  ].join('\n')

async function isUp(child: ChildProcess): Promise<void> {
  const outputLines: string[] = []
  const ended = once(child, 'exit').then(() => {
    throw new Error(`PgBouncer failed to start:\n${outputLines.join('\n')}`)
  })
  const up = new Promise<void>((resolve) => {
    const stderr = child.stderr
    if (stderr === null) return
    createInterface({ input: stderr }).on('line', (line) => {
      outputLines.push(line)
      if (line.includes('process up')) resolve()
      if (outputLines.length > 100) outputLines.shift()
    })
  })
  ended.catch(() => undefined)
  await Promise.race([up, ended])
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  // Immediately: a gentler signal would wait for the clients.
  child.kill('SIGTERM')
  child.kill('SIGQUIT')
  await ended
}

/** Returns the same database through the pooler, with a direct address for what needs a session. */
export function throughPooler(poolerFolder: string, options: DbOptions): DbOptions {
  const { socketFolder = '', database = '', user = '', password = '' } = options
  return { ...options, socketFolder: poolerFolder, direct: { socketFolder, database, user, password } }
}

/** Returns whether this program can keep prepared statements for its clients. */
export function supportsPreparedStatements(): boolean {
  const outputLines = execFileSync(program, ['--version'], { encoding: 'utf8' })
  const [, minor = '0'] = /PgBouncer 1\.(\d+)/.exec(outputLines) ?? []
  return Number(minor) >= 21
}
