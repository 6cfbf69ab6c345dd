import { isUuid } from '../../base/id.ts'

/** Where sealed files are kept, by names that are UUIDs. It sees sealed bytes alone. */
export interface MediaStore {
  /** Which store it is, in words for operators; without secrets. */
  readonly description: string
  /**
   * Keeps the bytes under a name and returns how many there are. When it returns they outlive a power cut; when it
   * throws, or the process dies, there is nothing by this name, or what was there before. A piece that it was given is
   * the giver's again once it asks for the next.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /**
   * The bytes from `start` on, to just before `end` or to the last, to be read once; a piece is good until the next is
   * asked for. Throws a StoreError, `missing`, before the first.
   */
  open(name: string, start?: number, end?: number | null): Promise<AsyncIterable<Uint8Array>>
  /** Removes what is there by this name, if anything is. */
  remove(name: string): Promise<void>
  /** Up to so many files, in the order of their paths: those behind `after`, or the first. */
  list(after: string | null, limit: number): Promise<StoredFile[]>
  /** Drops what writers that died before this moment have left half written. Returns how many. */
  deletePartialFiles(before: Date): Promise<number>
  /** The text that says whose store it is; null where there is none. */
  readMark(): Promise<string | null>
  /** Writes that text, unless there is one. */
  writeMark(text: string): Promise<void>
  close(): Promise<void>
}

export interface StoredFile {
  name: string
  bytes: number
  /** By the clock of the store. */
  storedAt: Date
}

/** Why a store could not do something; `full` and `refused` are for an operator to mend. */
export type StoreErrorKind = 'missing' | 'full' | 'refused' | 'unreachable'

export class StoreError extends Error {
  readonly kind: StoreErrorKind

  constructor(kind: StoreErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

export const fileMissing = (name: string, cause?: unknown): StoreError =>
  new StoreError('missing', `There is no file ${name} in the media store`, cause)

/** The name of the mark, beside the files. */
export const markName = 'parley-store.json'

/**
 * Where a file lies below the store's root, the same in every form of store, so that one can be copied into another.
 * The levels are the last digits of its name, as the first ones tell the time. Throws for a name that is no UUID.
 */
export function storePath(name: string): string {
  if (!isUuid(name) || name !== name.toLowerCase()) throw new RangeError('A file in the media store is named by a UUID')
  return `${name.slice(-2)}/${name.slice(-4, -2)}/${name}`
}

/** The name of the file that lies there; null for what is not one of ours. */
export function nameFromPath(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return isUuid(name) && name === name.toLowerCase() && storePath(name) === path ? name : null
}
