import type { Fragment, Sql } from '../base/db.ts'
import type { IndexedTable, KeyedRow, KeyedTables, SealedTable } from '../base/sealing/keyed-table.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import { instanceScope } from '../base/sealing/vault.ts'
import type { Purpose } from './rotation.ts'

const defaultRowsAtOnce = 200

/** One table to bring to the current version: which rows are old, and what they become. */
export interface Rewriting {
  table: string
  key: readonly string[]
  /** The table that has the columns of `reads`. */
  source: { table: string; key: readonly string[] } | null
  reads: readonly string[]
  /** Columns of the table itself that are read beside those of its source. */
  own: readonly string[]
  rowsAtOnce: number
  belongs(sql: Sql, scopeId: string): Fragment
  isOld(sql: Sql, keyring: Keyring): Fragment
  /** The columns to write. */
  rewrite(keyring: Keyring, row: KeyedRow): Record<string, Buffer | number[] | number | null>
}

/** The tables of a scope that a rotation goes through, in order. */
export function rewritingsOf(tables: KeyedTables, purpose: Purpose, scopeId: string): Rewriting[] {
  const keysOf = scopeId === instanceScope ? 'instance' : 'workspace'
  return purpose === 'data'
    ? tables.sealed.filter((table) => table.keysOf === keysOf).map(resealing)
    : tables.indexed.filter((table) => table.keysOf === keysOf).map(reindexing)
}

function resealing({ table, keysOf, key, places, reads = [], rowsAtOnce = defaultRowsAtOnce }: SealedTable): Rewriting {
  const columns = Object.keys(places)
  return {
    table,
    key,
    source: null,
    reads: [...columns, ...reads],
    own: [],
    rowsAtOnce,
    belongs: belongs(keysOf),
    isOld: (sql, keyring) => {
      const version = Buffer.alloc(4)
      version.writeUInt32BE(keyring.dataVersion)
      return columns
        .map((column) => sql`(length(t.${sql(column)}) > 0 and substr(t.${sql(column)}, 2, 4) <> ${version}::bytea)`)
        .reduce((any, one) => sql`${any} or ${one}`)
    },
    rewrite: (keyring, row) => {
      const sealed = Object.entries(places).filter(([column]) => row[column] !== null && row[column].length > 0)
      return Object.fromEntries(
        sealed.map(([column, place]) => [column, keyring.seal(place(row), keyring.open(place(row), row[column]))]),
      )
    },
  }
}

function reindexing({ table, keysOf, key, reads, source, own = [], indexes }: IndexedTable): Rewriting {
  return {
    table,
    key,
    source: source ?? null,
    reads,
    own,
    rowsAtOnce: defaultRowsAtOnce,
    belongs: belongs(keysOf),
    isOld: (sql, keyring) => sql`t.index_version <> ${keyring.indexVersion}`,
    rewrite: indexes,
  }
}

function belongs(keysOf: SealedTable['keysOf']): Rewriting['belongs'] {
  return keysOf === 'instance' ? (sql) => sql`true` : (sql, scopeId) => sql`t.workspace_id = ${scopeId}`
}
