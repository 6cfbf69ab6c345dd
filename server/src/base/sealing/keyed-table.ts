import type { Keyring } from './keyring.ts'
import type { SealPlace } from './seal.ts'

// What each room says of its tables, so that keys can be rotated by one engine (decision 013).

/** A row as the database gives it. */
// biome-ignore lint/suspicious/noExplicitAny: each table has columns of its own, which only its room knows
export type KeyedRow = Record<string, any>

interface KeyedTable {
  table: string
  /** Whose keys are used: those of the workspace in `workspace_id`, or the instance's. */
  keysOf: 'workspace' | 'instance'
  /** What tells the rows of one scope apart. */
  key: readonly string[]
}

/** A table with sealed columns. */
export interface SealedTable extends KeyedTable {
  /** The sealed columns, and where each one's values are bound to. */
  places: Readonly<Record<string, (row: KeyedRow) => SealPlace>>
  /** How many rows to hold in memory and under lock; 200 unless the values are large. */
  rowsAtOnce?: number
  /** What `places` needs of a row besides its key. */
  reads?: readonly string[]
}

/** A table with digests or tokens by which rows are found, and their `index_version`. */
export interface IndexedTable extends KeyedTable {
  /** The columns that the digests are made of. */
  reads: readonly string[]
  /** The table that has these columns, if it is another one, and its key in the order of ours. */
  source?: { table: string; key: readonly string[] }
  /** Columns of the table itself that are read as well, where another one has those of `reads`. */
  own?: readonly string[]
  /** The columns to write, `index_version` among them, under the current version. */
  indexes(keyring: Keyring, row: KeyedRow): Record<string, Buffer | number[] | number | null>
}

export interface KeyedTables {
  sealed: readonly SealedTable[]
  indexed: readonly IndexedTable[]
}
