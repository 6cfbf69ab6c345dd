import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../../child.ts'
import type { Database } from '../../database-address.ts'
import { benchMasterKey } from '../../workspace.ts'

export interface ServeProcess extends Child {
  /** Counts of warning and error log lines, by message. */
  countProblems(): Record<string, number>
}

/** Starts `serve` of a checkout in its normal configuration on an existing database. */
export async function startServe(root: string, database: Database, port: number): Promise<ServeProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-burst-'))
  const logFile = join(folder, 'log')
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, [join(root, 'server/src/main.ts'), 'serve'], {
    stdio: ['ignore', log, 'inherit'],
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: urlOf(database),
      PGPASSWORD: database.password,
      PARLEY_MASTER_KEY: benchMasterKey.toString('base64'),
      PARLEY_DATA_DIR: folder,
      PARLEY_PORT: String(port),
      PARLEY_DEMO: '0',
      PARLEY_DRAIN_SECONDS: '0',
      PARLEY_ALLOW_CIDRS: '127.0.0.1/32',
      PARLEY_INBOX_RATE_LIMIT: '1000000',
      PARLEY_TEAM_RATE_LIMIT: '1000000',
    },
  })
  closeSync(log)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true })
  }
  const lines = () => readFileSync(logFile, 'utf8').split('\n')
  for (let tries = 0; !lines().some((line) => line.includes('"msg":"listening"')); tries++) {
    if (tries === 600 || child.exitCode !== null) throw new Error(`serve did not start: ${lines().join('\n')}`)
    await sleep(100)
  }
  return { port, pid: child.pid ?? 0, stop, countProblems: () => complaintsOf(lines()) }
}

function urlOf({ socketFolder, user, database }: Database): string {
  return `postgres:///${database}?host=${encodeURIComponent(socketFolder)}&user=${encodeURIComponent(user)}`
}

function complaintsOf(lines: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const line of lines.filter((line) => /"level":"?(warn|error|fatal|[456]0)/.test(line))) {
    const message = /"msg":"([^"]*)"/.exec(line)?.[1] ?? ''
    counts[message] = (counts[message] ?? 0) + 1
  }
  return counts
}
