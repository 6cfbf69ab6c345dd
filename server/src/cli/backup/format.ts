import { type Hash, hash } from 'node:crypto'
import type pg from 'pg'
import type { AppliedMigration, Catalog } from '../../base/copy/catalog.ts'
import type { Config } from '../../config.ts'
import { openFolderStore } from '../../media/store/folder-store.ts'
import { type MediaStore, StoreError } from '../../media/store/store.ts'
import type { Progress } from '../terminal.ts'
import type { TarWriter } from './tar.ts'

// A backup is a tar with, in this order: the head, the files present at the start, the snapshot of the database, the
// files added since, the tables in parts, and the end mark, whose name contains its own digest.

export const format = 1
export const headName = 'parley-backup.json'
export const snapshotName = 'snapshot.json'
export const filePrefix = 'files/'
const tablePrefix = 'tables/'

/** Facts known at the start. */
export interface Head {
  format: number
  parley: string
  startedAt: string
  /** Ids of the master keys that wrap its secrets. The backup does not contain the keys. */
  masterKeyIds: string[]
  /** Marker of the media folder; null if files are elsewhere or there were none. */
  filesMark: string | null
}

/** The database at one time. It contains every write acknowledged before `takenAt`. */
export interface Snapshot extends Catalog {
  takenAt: string
  postgres: string
  migrations: AppliedMigration[]
}

export interface Part {
  bytes: number
  sha256: string
}

/** Totals and digests at the end, to detect missing or altered parts. */
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

/** Returns the table of a part; null if the entry is not a part. */
export function tableOf(name: string): string | null {
  return name.startsWith(tablePrefix) ? name.slice(tablePrefix.length, name.lastIndexOf('/')) : null
}

/** Progress of copying the media store. */
export interface FileCopy {
  tar: TarWriter
  /** Null if the files are in a bucket. */
  store: MediaStore | null
  seen: Set<string>
  /** Digest of names and encrypted bytes, in the order of the backup. */
  digest: Hash
  bytes: number
  /** Number of files that rows of the snapshot refer to and the store no longer has. */
  missing: number
}

/** Opens the media folder; null for a bucket, which has its own tools for copying. */
export function storeOf({ media }: Config): MediaStore | null {
  return media.kind === 'folder' ? openFolderStore(media.folder) : null
}

/** Returns the files that rows refer to, as the transaction sees them. */
export async function namedFiles(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(`
    select stored_as as name from media where stored_as is not null
    union
    select preview_stored_as from media where preview_stored_as is not null`)
  return new Set(rows.map(({ name }) => name))
}

/** Copies the files that are not copied yet, or only the given ones. */
export async function copyFiles(copy: FileCopy, requestedNames: Set<string> | null, progress: Progress): Promise<void> {
  if (copy.store === null) return
  for (let after: string | null = null; ; ) {
    const files = await copy.store.list(after, pageSize)
    for (const { name, bytes } of files) {
      if (copy.seen.has(name) || (requestedNames !== null && !requestedNames.has(name))) continue
      await copyFile(copy, copy.store, name, bytes)
      progress.show(0, `${copy.seen.size} files`)
    }
    if (files.length < pageSize) break
    after = files.at(-1)?.name ?? null
  }
  if (requestedNames !== null) copy.missing = [...requestedNames].filter((name) => !copy.seen.has(name)).length
}

const pageSize = 500

async function copyFile(copy: FileCopy, store: MediaStore, name: string, bytes: number): Promise<void> {
  const content = await store.open(name).catch((error: unknown) => {
    // Removed since it was listed.
    if (error instanceof StoreError && error.kind === 'missing') return null
    throw error
  })
  if (content === null) return
  copy.digest.update(name)
  await copy.tar.addStream(filePrefix + name, bytes, hashed(copy, content))
  copy.seen.add(name)
}

/** Yields the content, and adds it to the digest and the number of bytes. */
export async function* hashed<B extends Uint8Array>(
  total: Pick<FileCopy, 'digest' | 'bytes'>,
  content: AsyncIterable<B>,
): AsyncGenerator<B> {
  for await (const piece of content) {
    total.digest.update(piece)
    total.bytes += piece.length
    yield piece
  }
}
