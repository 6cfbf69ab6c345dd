import type { Hash } from 'node:crypto'
import type pg from 'pg'
import type { Config } from '../../config.ts'
import { openFolderStore } from '../../media/store/folder-store.ts'
import { type MediaStore, StoreProblem } from '../../media/store/store.ts'
import type { Progress } from '../progress.ts'
import { filePrefix } from './format.ts'
import type { TarWriter } from './tar-write.ts'

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
    if (error instanceof StoreProblem && error.kind === 'missing') return null
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
