import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFolder, movedName, restoringName } from '../../base/embedded/embedded-postgres.ts'
import type { MasterKeys } from '../../base/encryption/key-store.ts'
import { type Config, loadConfig } from '../../config.ts'
import { printMessage, printResult } from '../terminal.ts'
import { type ReadBackup, readBackup } from './read-backup.ts'
import {
  checkMasterKeys,
  type DatabaseSource,
  findMasterKeys,
  installKeys,
  keyFileOf,
  readKeysFile,
  startEmbedded,
} from './source.ts'
import { type Verification, verificationLines, verifyBackup } from './verify.ts'

export interface RestoreOptions {
  from: string
  keys?: string
  json?: boolean
}

/** `parley restore` */
export async function restore({ from, keys: keysFile, json }: RestoreOptions): Promise<void> {
  const config = loadConfig(process.env)
  if (config.database.url !== null) {
    throw new Error(
      'DATABASE_URL is set, but this restores into the embedded database. Restore an external one with pg_restore, ' +
        'then run: parley prove',
    )
  }
  if (from !== '-' && !existsSync(from)) throw new Error(`File ${from} not found.`)
  const keys = keysFile === undefined ? findMasterKeys(config) : readKeysFile(keysFile)
  if (keys === null) {
    throw new Error('--keys or PARLEY_MASTER_KEY is required: without the master keys the data cannot be decrypted.')
  }
  await refuseUnlessEmpty(config, keysFile !== undefined)
  const { backup, proof } = await withFolderLock(config.dataFolder, () => restoreInto(config, keys, from))
  const { rows, end, head, snapshot } = backup
  const lines = [
    `Restored ${rows} rows and ${end.files.count} files of ${snapshot.takenAt}, written by Parley ${head.parley}.`,
    ...verificationLines(proof),
    `Start the service on ${config.dataFolder}.`,
  ]
  printResult(json, { takenAt: snapshot.takenAt, rows, files: end.files.count, proof }, lines)
  if (proof.findings.length > 0) process.exitCode = 1
}

interface RestoreResult {
  backup: ReadBackup
  proof: Verification
}

/** Builds everything in a temporary folder, and removes it if anything is wrong. */
async function restoreInto(config: Config, keys: MasterKeys, from: string): Promise<RestoreResult> {
  const stagingFolder = join(config.dataFolder, restoringName)
  const hadFiles = config.media.kind === 'folder' && existsSync(config.media.folder)
  await mkdir(stagingFolder, { mode: 0o700 })
  const openSources: DatabaseSource[] = []
  try {
    const openDatabase = async () => {
      const source = await startEmbedded(stagingFolder)
      openSources.push(source)
      return source.address
    }
    const input = from === '-' ? process.stdin : createReadStream(from, { highWaterMark: 1024 * 1024 })
    const checkHead = (ids: string[]) => checkMasterKeys(keys, ids)
    const backup = await readBackup(input, { config, openDatabase, checkKeys: checkHead })
    const proof = await verifyBackup({ config, address: backup.address, masterKeys: keys })
    await openSources.pop()?.close()
    if (config.masterKey === null && !existsSync(keyFileOf(config.dataFolder))) installKeys(stagingFolder, keys)
    await moveIntoPlace(stagingFolder, config.dataFolder)
    return { backup, proof }
  } catch (error) {
    await openSources
      .pop()
      ?.close()
      .catch(() => undefined)
    await rm(stagingFolder, { recursive: true, force: true, maxRetries: 5 })
    if (config.media.kind === 'folder') await emptyFolder(config.media.folder, hadFiles)
    throw error
  }
}

/** Empties the folder without removing it if `isKept`, because it may be a mount point. */
async function emptyFolder(folder: string, isKept: boolean): Promise<void> {
  if (!isKept) return rm(folder, { recursive: true, force: true, maxRetries: 5 })
  for (const name of await entriesOf(folder)) {
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Moves the marker of an unfinished restore last, so that no service starts before. */
async function moveIntoPlace(stagingFolder: string, dataFolder: string): Promise<void> {
  const ownFiles = ['parley.lock', 'parley.pid']
  for (const name of await readdir(stagingFolder)) {
    if (!ownFiles.includes(name)) await rename(join(stagingFolder, name), join(dataFolder, name))
  }
  await rm(stagingFolder, { recursive: true, force: true })
}

async function withFolderLock<T>(dataFolder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  const lock = lockFolder(dataFolder)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Throws unless the folders are empty, except for a file system's own entries and a key that was put there first. */
async function refuseUnlessEmpty({ dataFolder, media }: Config, bringsKeys: boolean): Promise<void> {
  const isKey = (name: string) => !bringsKeys && join(dataFolder, name).startsWith(keyFileOf(dataFolder))
  const harmless = (name: string) => ['parley.lock', 'parley.pid'].includes(name) || isKey(name)
  const found = (await entriesOf(dataFolder)).filter((name) => !harmless(name))
  if (found.includes(movedName)) printMessage(`${dataFolder} belongs to an installation that was moved.`)
  if (found.length > 0) {
    throw new Error(
      `${dataFolder} is not empty (${found.slice(0, 5).join(', ')}). Nothing was changed. Set PARLEY_DATA_DIR to an empty folder.`,
    )
  }
  if (media.kind === 'folder' && (await entriesOf(media.folder)).length > 0) {
    throw new Error(
      `The media folder ${media.folder} is not empty. Nothing was changed. Set PARLEY_MEDIA_URL to an empty one.`,
    )
  }
}

async function entriesOf(folder: string): Promise<string[]> {
  const names = existsSync(folder) ? await readdir(folder) : []
  return names.filter((name) => name !== 'lost+found')
}
