import { hash } from 'node:crypto'
import type { AppliedMigration, Catalogue } from '../../base/copy/catalogue.ts'

// A backup is a tar, in this order: the head, the files that were there at first, the snapshot of the database, the files
// that came meanwhile, the tables in parts, and the end mark, whose name is its own digest.

export const format = 1
export const headName = 'parley-backup.json'
export const snapshotName = 'snapshot.json'
export const filePrefix = 'files/'
export const tablePrefix = 'tables/'

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
