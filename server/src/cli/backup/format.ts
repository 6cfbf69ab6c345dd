import { type Hash, hash } from 'node:crypto'
import type pg from 'pg'
import type { AppliedMigration, Catalogue } from '../../base/copy/catalogue.ts'
import type { Config } from '../../config.ts'
import { openFolderStore } from '../../media/store/folder-store.ts'
import { type MediaStore, StoreError } from '../../media/store/store.ts'
import type { Progress } from '../terminal.ts'
import type { TarWriter } from './tar.ts'

// A backup is a tar, in this order: the head, the files that were there at first, the snapshot of the database, the files
// that came meanwhile, the tables in parts, and the end mark, whose name is its own digest.

export const format = 1
export const headName = 'parley-backup.json'
export const snapshotName = 'snapshot.json'
export const filePrefix = 'files/'
const tablePrefix = 'tables/'

/** What is known when it begins. */
export interface Head {
  format: number
  parley: string
  startedAt: string
  /** The ids of the master keys that wrap its secrets, which are not in it. */
  masterKeyIds: string[]
  /** Of the folder of files; null where they are kept elsewhere, or none ever was. */
  filesMark: string | null
}

/** The database at one moment: every write that was acknowledged before `takenAt` is in it. */
export interface Snapshot extends Catalogue {
  takenAt: string
  postgres: string
  migrations: AppliedMigration[]
}

export interface Part {
  bytes: number
  sha256: string
}

/** What stands at the end, so that whatever is missing or altered is noticed. */
export interface EndMark {
  finishedAt: string
  head: string
  snapshot: string
  tables: (Part & { name: string; rows: number })[]
  files: Part & { count: number; missing: number }
}

export const bytesOfJson = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
export const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes)
export const endName = (bytes: Uint8Array): string => `end-${digestOf(bytes)}.json`
export const isEndName = (name: string): boolean => name.startsWith('end-')
export const partName = (table: string, part: number): string =>
  `${tablePrefix}${table}/${String(part).padStart(6, '0')}`

/** The table that a part is of; null for what is none. */
export function tableOf(name: string): string | null {
  return name.startsWith(tablePrefix) ? name.slice(tablePrefix.length, name.lastIndexOf('/')) : null
}

/** What of the store has been copied so far. */
export interface FileCopy {
  tar: TarWriter
  /** Null where the files are in a bucket. */
  store: MediaStore | null
  seen: Set<string>
  /** Over names and sealed bytes, in the order of the backup. */
  digest: Hash
  bytes: number
  /** Rows of the snapshot name them, and the store has them no more. */
  missing: number
}

/** The folder of files; a bucket is copied by tools of its own. */
export function storeOf({ media }: Config): MediaStore | null {
  return media.kind === 'folder' ? openFolderStore(media.folder) : null
}

/** The files that rows name, as the transaction sees them. */
export async function namedFiles(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(`
    select stored_as as name from media where stored_as is not null
    union
    select preview_stored_as from media where preview_stored_as is not null`)
  return new Set(rows.map(({ name }) => name))
}

/** Copies the files of the store that are not copied yet; where names are given, those alone. */
export async function copyFiles(copy: FileCopy, wanted: Set<string> | null, progress: Progress): Promise<void> {
  if (copy.store === null) return
  for (let after: string | null = null; ; ) {
    const files = await copy.store.list(after, pageSize)
    for (const { name, bytes } of files) {
      if (copy.seen.has(name) || (wanted !== null && !wanted.has(name))) continue
      await copyFile(copy, copy.store, name, bytes)
      progress.show(0, `${copy.seen.size} files`)
    }
    if (files.length < pageSize) break
    after = files.at(-1)?.name ?? null
  }
  if (wanted !== null) copy.missing = [...wanted].filter((name) => !copy.seen.has(name)).length
}

const pageSize = 500

async function copyFile(copy: FileCopy, store: MediaStore, name: string, bytes: number): Promise<void> {
  const content = await store.open(name).catch((error: unknown) => {
    // It was removed since it was listed.
    if (error instanceof StoreError && error.kind === 'missing') return null
    throw error
  })
  if (content === null) return
  copy.digest.update(name)
  await copy.tar.addStream(filePrefix + name, bytes, hashed(copy, content))
  copy.seen.add(name)
}

async function* hashed(copy: FileCopy, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    copy.digest.update(piece)
    copy.bytes += piece.length
    yield piece
  }
}
