import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Machine } from './machines.ts'

/** Folder of the cluster: its data, removed with it, and its logs, kept until the next cluster. */
export const folder = join(tmpdir(), 'parley-cluster')
const logs = join(folder, 'logs')
const stateFile = join(folder, 'cluster.json')

export interface StartedProcess {
  name: string
  machine: Machine
  pid: number
}

export interface State {
  secrets: {
    /** Passwords of the database's superuser, its replication user, and Parley's user. */
    postgres: string
    replication: string
    parley: string
    /** Password of Patroni's REST API. */
    patroni: string
    masterKey: string
    teamToken: string
  }
  /** Last process started under each name. */
  started: StartedProcess[]
}

/** Creates an empty folder that no other user can have prepared, with new secrets. */
export function createClusterFolder(): State {
  removeClusterFolder()
  mkdirSync(folder, { mode: 0o755 })
  // The database user must be able to traverse it, whatever the umask.
  chmodSync(folder, 0o755)
  mkdirSync(logs, { mode: 0o700 })
  const secret = () => randomBytes(24).toString('hex')
  const secrets = {
    postgres: secret(),
    replication: secret(),
    parley: secret(),
    patroni: secret(),
    masterKey: randomBytes(32).toString('base64'),
    teamToken: secret(),
  }
  const state = { secrets, started: [] }
  writeState(state)
  return state
}

/** Removes the folder, or all but the logs. */
export function removeClusterFolder(keepsLogs = false): void {
  if (!existsSync(folder)) return
  const { uid } = lstatSync(folder)
  if (uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`)
  const parts = keepsLogs ? ['data', 'cluster.json'].map((name) => join(folder, name)) : [folder]
  for (const part of parts) rmSync(part, { recursive: true, force: true, maxRetries: 5 })
}

export const logFile = (name: string): string => join(logs, `${name}.log`)

/** Returns the data folder of this name; creates it on first use. */
export function dataFolder(name: string): string {
  const path = join(folder, 'data', name)
  mkdirSync(path, { recursive: true })
  return path
}

export function readState(): State | null {
  return existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : null
}

/** Returns the state of a running cluster. Throws if there is none. */
export function requireState(): State {
  const state = readState()
  if (state === null) throw new Error('No cluster is running. Run: npm run cluster -- up')
  return state
}

export function recordProcess(one: StartedProcess): void {
  const state = requireState()
  writeState({ ...state, started: [...state.started.filter(({ name }) => name !== one.name), one] })
}

/** Returns the process id last started under this name. */
export function pidOf(name: string): number {
  const found = requireState().started.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${name} was never started`)
  return found.pid
}

function writeState(state: State): void {
  writeFileSync(stateFile, JSON.stringify(state, null, 2), { mode: 0o600 })
}
