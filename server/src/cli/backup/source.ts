import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDb } from '../../base/db.ts'
import { addressOfRunning, FolderInUse, startEmbeddedPostgres } from '../../base/embedded/embedded-postgres.ts'
import type { MasterKeys } from '../../base/encryption/key-store.ts'
import { masterKeyId, parseMasterKey, readPreviousMasterKeyFiles } from '../../base/encryption/secrets.ts'
import { migrate } from '../../base/migrate.ts'
import { type DatabaseAddress, socketAddress } from '../../base/postgres/address.ts'
import type { Config } from '../../config.ts'
import { printMessage } from '../terminal.ts'

export interface DatabaseSource {
  address: DatabaseAddress
  close(): Promise<void>
}

/** Opens the embedded database: that of the running service, or starts it for the time needed. */
export async function openEmbedded(config: Config): Promise<DatabaseSource> {
  requireCluster(config)
  try {
    return await startEmbedded(config.dataFolder)
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    return { address: await addressOfRunning(config.dataFolder), close: async () => {} }
  }
}

/** Starts the embedded database. Throws if it is in use. */
export async function startEmbedded(folder: string): Promise<DatabaseSource> {
  const { stop, ...login } = await startEmbeddedPostgres({ folder, log: printMessage })
  return { address: socketAddress(login), close: stop }
}

/** Applies the migrations up to number `last` to a database. */
export async function migrateAt(address: DatabaseAddress, last?: number): Promise<void> {
  const db = openDb({ address, maxConnections: 2 })
  await migrate(db, undefined, last).finally(() => db.close())
}

export function requireCluster({ dataFolder }: Config): void {
  if (existsSync(join(dataFolder, 'postgres'))) return
  throw new Error(`No database found in ${dataFolder}. Set PARLEY_DATA_DIR to the data folder of the installation.`)
}

/** Returns the embedded installation's key file, which is used if the key is not in the settings. */
export const keyFileOf = (dataFolder: string): string => join(dataFolder, 'master.key')

/** Returns the keys of this installation; null if there are none. Never creates one. */
export function findMasterKeys({ masterKey, previousMasterKeys, dataFolder }: Config): MasterKeys | null {
  const previous = previousMasterKeys.map(parseMasterKey)
  if (masterKey !== null) return { current: parseMasterKey(masterKey), previous }
  const path = keyFileOf(dataFolder)
  if (!existsSync(path)) return null
  const current = parseMasterKey(readFileSync(path, 'utf8'))
  return { current, previous: [...previous, ...readPreviousMasterKeyFiles(path)] }
}

export function requireMasterKeys(config: Config): MasterKeys {
  const keys = findMasterKeys(config)
  if (keys !== null) return keys
  throw new Error(`No master key found: neither ${keyFileOf(config.dataFolder)} nor PARLEY_MASTER_KEY is set.`)
}

/** Writes the keys to a new file that only its owner can read. Throws if the file exists. */
export function writeKeysFile(path: string, { current, previous = [] }: MasterKeys): void {
  const lines = [current, ...previous].map((key) => `${key.toString('hex')}\n`)
  writeFileSync(path, lines.join(''), { mode: 0o600, flag: 'wx', flush: true })
}

/** Reads a file from `writeKeysFile`, or a `master.key`. */
export function readKeysFile(path: string): MasterKeys {
  const [current, ...previous] = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseMasterKey)
  if (current === undefined) throw new Error(`${path} does not contain a key`)
  return { current, previous }
}

/** Writes keys where an installation looks for them. */
export function installKeys(folder: string, { current, previous = [] }: MasterKeys): void {
  const path = keyFileOf(folder)
  writeFileSync(path, `${current.toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  for (const key of previous) {
    const file = `${path}.${masterKeyId(key)}`
    writeFileSync(file, `${key.toString('hex')}\n`, { mode: 0o600, flush: true })
    chmodSync(file, 0o600)
  }
}

/** Throws if secrets are wrapped by a key that is not included. */
export function checkMasterKeys({ current, previous = [] }: MasterKeys, requiredIds: readonly string[]): void {
  const known = new Set([current, ...previous].map(masterKeyId))
  const missing = requiredIds.filter((id) => !known.has(id))
  if (missing.length === 0) return
  throw new Error(
    `The data is encrypted with master key ${missing.join(' and ')}, but the given keys are ${[...known].join(', ')}. ` +
      'Provide the keys from the time of the backup with --keys, or PARLEY_MASTER_KEY and PARLEY_PREVIOUS_MASTER_KEYS.',
  )
}
