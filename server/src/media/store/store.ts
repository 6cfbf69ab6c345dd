import { isUuid } from '../../base/id.ts'

/** Stores encrypted files by UUID. It sees only ciphertext. */
export interface MediaStore {
  /** Description of the store for operators, without secrets. */
  readonly description: string
  /**
   * Stores the bytes under a name and returns their number. They are durable when it returns. If it throws, or the
   * process dies, the previous file, if any, remains. The source may reuse a chunk's memory once the next one is
   * requested.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /**
   * Returns the bytes from `start` up to `end` (exclusive) or to the end, readable once; a chunk is valid until the
   * next one is requested. Throws StoreError `missing` before the first chunk.
   */
  open(name: string, start?: number, end?: number | null): Promise<AsyncIterable<Uint8Array>>
  /** Removes the file, if it exists. */
  remove(name: string): Promise<void>
  /** Returns up to `limit` files ordered by path, after `after` or from the start. */
  list(after: string | null, limit: number): Promise<StoredFile[]>
  /** Removes partial files from before `before`, left by writers that died. Returns how many. */
  deletePartialFiles(before: Date): Promise<number>
  /** Returns the mark that identifies the installation; null if there is none. */
  readMark(): Promise<string | null>
  /** Writes the mark, unless there is one. */
  writeMark(text: string): Promise<void>
  close(): Promise<void>
}

export interface StoredFile {
  name: string
  bytes: number
  /** By the store's clock. */
  storedAt: Date
}

/** Cause of a failure; the operator must fix `full` and `refused`. */
export type StoreErrorKind = 'missing' | 'full' | 'refused' | 'unreachable'

export class StoreError extends Error {
  readonly kind: StoreErrorKind

  constructor(kind: StoreErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

export const fileMissing = (name: string, cause?: unknown): StoreError =>
  new StoreError('missing', `File ${name} not found in the media store`, cause)

/** File name of the mark. */
export const markName = 'parley-store.json'

/**
 * Returns a file's path below the store's root. The same for every type of store, so that files can be copied between
 * them. Folders use the last digits of the name, because the first ones encode the time. Throws for a name that is not
 * a UUID.
 */
export function storePath(name: string): string {
  if (!isUuid(name) || name !== name.toLowerCase())
    throw new RangeError('Names in the media store must be lower-case UUIDs')
  return `${name.slice(-2)}/${name.slice(-4, -2)}/${name}`
}

/** Returns the file name for a path; null if it is not one of ours. */
export function nameFromPath(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return isUuid(name) && name === name.toLowerCase() && storePath(name) === path ? name : null
}
