import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { serverSettings } from '../server/src/base/embedded/server-process.ts'

export interface BenchPostgres {
  socketFolder: string
  user: string
  database: string
  password: string
  readonly pid: number
  stop(): Promise<void>
}

/** Enough for several services at once, each with its pool. */
export const maxConnections = 200
const nobody = 65_534

/**
 * Starts a server from the programs in `binFolder`, configured like the embedded one, for extensions that one lacks.
 * Deletes its data when it stops, unless they are in `keptFolder`.
 */
export async function startSystemPostgres(
  binFolder: string,
  keptFolder: string | undefined,
  countsStatements = false,
): Promise<BenchPostgres> {
  if (keptFolder !== undefined) mkdirSync(keptFolder, { recursive: true })
  const folder = keptFolder ?? mkdtempSync(join(tmpdir(), 'parley-bench-pg-'))
  const isRoot = process.getuid?.() === 0
  const as = isRoot ? { uid: nobody, gid: nobody } : {}
  if (isRoot) chownSync(folder, nobody, nobody)
  const data = join(folder, 'data')
  const run = (program: string, args: string[]) =>
    execFileSync(join(binFolder, program), args, { ...as, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const isNew = !existsSync(data)
  if (isNew) run('initdb', ['-D', data, '-U', 'parley', '-E', 'UTF8', '--locale=C', '-A', 'trust'])
  const settings = {
    ...serverSettings,
    unix_socket_directories: folder,
    max_connections: maxConnections,
    ...(countsStatements && { shared_preload_libraries: 'pg_stat_statements' }),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(binFolder, 'postgres'), ['-D', data, ...flags], { ...as, cwd: folder, stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  await takesConnections(join(binFolder, 'pg_isready'), folder)
  if (isNew) run('createdb', ['-h', folder, '-U', 'parley', 'parley'])
  return {
    socketFolder: folder,
    user: 'parley',
    database: 'parley',
    password: '',
    pid: server.pid ?? 0,
    stop: async () => {
      server.kill('SIGINT')
      await exited
      if (keptFolder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

async function takesConnections(program: string, folder: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (spawnSync(program, ['-q', '-h', folder], { cwd: folder }).status === 0) return
    await setTimeout(100)
  }
  throw new Error('PostgreSQL failed to start')
}
