import { accessSync, constants, mkdirSync } from 'node:fs'
import { createLog, type Log } from '../../base/log.ts'
import type { Config } from '../../config.ts'
import { printMessage } from '../terminal.ts'
import { type OpenDatabase, openDatabase } from './database.ts'
import { handleStopSignals, type StopSignals } from './stop-signals.ts'

export interface PendingDatabase {
  log: Log
  opening: Promise<OpenDatabase>
}

/** A start whose database is opening. */
export interface PendingStart extends PendingDatabase {
  config: Config
  signals: StopSignals
}

/** Begins a start: the database starts in its own process while this one loads the modules of the service. */
export async function beginStart(config: Config): Promise<PendingStart> {
  const signals = handleStopSignals()
  const { promise: spawned, resolve: onSpawn } = Promise.withResolvers<void>()
  const { log, opening } = beginOpening(config, printMessage, onSpawn)
  // Loading modules blocks this thread. An error is thrown to the caller, who awaits `opening`.
  await Promise.race([spawned, opening.catch(() => {})])
  return { config, log, signals, opening }
}

/** Begins to open the database, and returns at once. */
export function beginOpening(config: Config, say: (line: string) => void, onSpawn?: () => void): PendingDatabase {
  makeDataFolder(config.dataFolder)
  const log = createLog(config.logLevel)
  return { log, opening: openDatabase(config, log, say, onSpawn) }
}

function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'an error'
    throw new Error(
      `The data folder ${folder} is not accessible (${code}). Set PARLEY_DATA_DIR to a folder that this user can write to.`,
    )
  }
}
