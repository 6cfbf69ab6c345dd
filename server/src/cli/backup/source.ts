import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressOfRunning, FolderInUse, startEmbeddedPostgres } from '../../base/embedded/embedded-postgres.ts'
import type { MasterKeys } from '../../base/encryption/key-store.ts'
import { masterKeyFrom, masterKeyId, readPreviousMasterKeyFiles } from '../../base/encryption/secrets.ts'
import { type DatabaseAddress, socketAddress } from '../../base/postgres/address.ts'
import type { Config } from '../../config.ts'
import { say } from '../terminal.ts'

export interface Source {
  address: DatabaseAddress
  close(): Promise<void>
}

/** The embedded database: that of the service while it runs, else started for as long as it is needed. */
export async function openEmbedded(config: Config): Promise<Source> {
  requireCluster(config)
  try {
    return await startEmbedded(config.dataFolder)
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    return { address: await addressOfRunning(config.dataFolder), close: async () => {} }
  }
}

/** The same, where nobody else may use it meanwhile. */
export async function startEmbedded(folder: string): Promise<Source> {
  const { stop, ...login } = await startEmbeddedPostgres({ folder, log: say })
  return { address: socketAddress(login), close: stop }
}

export function requireCluster({ dataFolder }: Config): void {
  if (existsSync(join(dataFolder, 'postgres'))) return
  throw new Error(`There is no database in ${dataFolder}. Set PARLEY_DATA_DIR to the data folder of the installation.`)
}

/** Where the embedded installation keeps its key when the settings do not give it. */
export const keyFileOf = (dataFolder: string): string => join(dataFolder, 'master.key')

/** The keys of this installation; null where there are none. Never makes one. */
export function findMasterKeys({ masterKey, previousMasterKeys, dataFolder }: Config): MasterKeys | null {
  const previous = previousMasterKeys.map(masterKeyFrom)
  if (masterKey !== null) return { current: masterKeyFrom(masterKey), previous }
  const path = keyFileOf(dataFolder)
  if (!existsSync(path)) return null
  const current = masterKeyFrom(readFileSync(path, 'utf8'))
  return { current, previous: [...previous, ...readPreviousMasterKeyFiles(path)] }
}

export function requireMasterKeys(config: Config): MasterKeys {
  const keys = findMasterKeys(config)
  if (keys !== null) return keys
  throw new Error(`There is no master key: neither ${keyFileOf(config.dataFolder)} nor PARLEY_MASTER_KEY.`)
}

/** Writes the keys to a file of their own, which must not be there yet, for its owner alone. */
export function writeKeysFile(path: string, { current, previous = [] }: MasterKeys): void {
  const lines = [current, ...previous].map((key) => `${key.toString('hex')}\n`)
  writeFileSync(path, lines.join(''), { mode: 0o600, flag: 'wx', flush: true })
}

/** Reads what `writeKeysFile` wrote; a `master.key` is such a file too. */
export function readKeysFile(path: string): MasterKeys {
  const [current, ...previous] = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(masterKeyFrom)
  if (current === undefined) throw new Error(`${path} holds no key`)
  return { current, previous }
}

/** Puts keys where an installation looks for them. */
export function placeKeys(folder: string, { current, previous = [] }: MasterKeys): void {
  const path = keyFileOf(folder)
  writeFileSync(path, `${current.toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  for (const key of previous) {
    const file = `${path}.${masterKeyId(key)}`
    writeFileSync(file, `${key.toString('hex')}\n`, { mode: 0o600, flush: true })
    chmodSync(file, 0o600)
  }
}

/** Throws when secrets are wrapped by a key that is not among these. */
export function checkMasterKeys({ current, previous = [] }: MasterKeys, wanted: readonly string[]): void {
  const known = new Set([current, ...previous].map(masterKeyId))
  const missing = wanted.filter((id) => !known.has(id))
  if (missing.length === 0) return
  throw new Error(
    `The data is sealed by master key ${missing.join(' and ')}, and what was given is ${[...known].join(', ')}. ` +
      'Give the keys of the time of the backup by --keys, or by PARLEY_MASTER_KEY and PARLEY_PREVIOUS_MASTER_KEYS.',
  )
}
