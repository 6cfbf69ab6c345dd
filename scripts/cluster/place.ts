import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Machine } from './machines.ts'

/** What the cluster keeps: its data, which go with it, and its logs, which stay until the next one. */
export const folder = join(tmpdir(), 'parley-cluster')
const logs = join(folder, 'logs')
const stateFile = join(folder, 'cluster.json')

export interface Started {
  name: string
  machine: Machine
  pid: number
}

export interface State {
  secrets: {
    /** Of the database's administrator, its replication, and Parley's own user. */
    postgres: string
    replication: string
    parley: string
    /** Of Patroni's interface. */
    patroni: string
    masterKey: string
    teamToken: string
  }
  /** Those that were started last under each name. */
  started: Started[]
}

/** An empty folder that nobody else can have put there, with secrets of its own. */
export function makePlace(): State {
  removePlace()
  mkdirSync(folder, { mode: 0o755 })
  // Whoever runs the databases passes through it, whatever the mask says.
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

/** Removes all, or all but the logs. */
export function removePlace(keepsLogs = false): void {
  if (!existsSync(folder)) return
  const { uid } = lstatSync(folder)
  if (uid !== process.getuid?.()) throw new Error(`${folder} belongs to somebody else`)
  const parts = keepsLogs ? ['data', 'cluster.json'].map((name) => join(folder, name)) : [folder]
  for (const part of parts) rmSync(part, { recursive: true, force: true, maxRetries: 5 })
}

export const logFile = (name: string): string => join(logs, `${name}.log`)

/** A folder for data of this name; only made when it is asked for. */
export function dataFolder(name: string): string {
  const path = join(folder, 'data', name)
  mkdirSync(path, { recursive: true })
  return path
}

export function readState(): State | null {
  return existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : null
}

/** Of a cluster that is there. */
export function stateOfCluster(): State {
  const state = readState()
  if (state === null) throw new Error('There is no cluster: npm run cluster -- up')
  return state
}

export function noteProcess(one: Started): void {
  const state = stateOfCluster()
  writeState({ ...state, started: [...state.started.filter(({ name }) => name !== one.name), one] })
}

/** The process that was started last under this name. */
export function pidOf(name: string): number {
  const found = stateOfCluster().started.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${name} was never started`)
  return found.pid
}

function writeState(state: State): void {
  writeFileSync(stateFile, JSON.stringify(state, null, 2), { mode: 0o600 })
}
