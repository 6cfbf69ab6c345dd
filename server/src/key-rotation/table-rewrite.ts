import type { Fragment, Sql, Tx } from '../base/db.ts'
import { DecryptionError } from '../base/encryption/encrypt.ts'
import type { EncryptedTable, IndexedTable, KeyedRow, KeyedTables } from '../base/encryption/key-store.ts'
import { instanceScope } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'

export const purposes = ['data', 'index'] as const
/** The rotated keys: those that encrypt values (`data`), or those of digests and search tokens (`index`). */
export type Purpose = (typeof purposes)[number]

const defaultRowsAtOnce = 200

/** A table to rewrite to the current version: which rows are old, and their new values. */
export interface TableRewrite {
  table: string
  key: readonly string[]
  /** The table that contains the columns in `reads`. */
  source: { table: string; key: readonly string[] } | null
  reads: readonly string[]
  /** Columns read from the table itself, in addition to those of its source. */
  own: readonly string[]
  rowsAtOnce: number
  belongs(sql: Sql, scopeId: string): Fragment
  isOld(sql: Sql, keyring: Keyring): Fragment
  rewrite(keyring: Keyring, row: KeyedRow): Record<string, Buffer | number[] | number | null>
}

/** What a statement of a rewrite needs: a table of a scope, and the keys to rewrite it with. */
interface RewriteScope {
  tx: Tx
  keyring: Keyring
  scopeId: string
  rewriting: TableRewrite
}

/** Returns the tables of a scope that a rotation rewrites, in order. */
export function tableRewritesOf(tables: KeyedTables, purpose: Purpose, scopeId: string): TableRewrite[] {
  const keysOf = scopeId === instanceScope ? 'instance' : 'workspace'
  return purpose === 'data'
    ? tables.encrypted.filter((table) => table.keyScope === keysOf).map(encryptedRewrite)
    : tables.indexed.filter((table) => table.keyScope === keysOf).map(indexedRewrite)
}

function encryptedRewrite({
  table,
  keyScope,
  key,
  locations,
  reads = [],
  rowsAtOnce = defaultRowsAtOnce,
}: EncryptedTable): TableRewrite {
  const columns = Object.keys(locations)
  return {
    table,
    key,
    source: null,
    reads: [...columns, ...reads],
    own: [],
    rowsAtOnce,
    belongs: belongs(keyScope),
    isOld: (sql, keyring) => {
      const version = Buffer.alloc(4)
      version.writeUInt32BE(keyring.dataVersion)
      return columns
        .map((column) => sql`(length(t.${sql(column)}) > 0 and substr(t.${sql(column)}, 2, 4) <> ${version}::bytea)`)
        .reduce((any, one) => sql`${any} or ${one}`)
    },
    rewrite: (keyring, row) => {
      const sealed = Object.entries(locations).filter(([column]) => row[column] !== null && row[column].length > 0)
      return Object.fromEntries(
        sealed.map(([column, place]) => [
          column,
          keyring.encrypt(place(row), keyring.decrypt(place(row), row[column])),
        ]),
      )
    },
  }
}

function indexedRewrite({ table, keyScope, key, reads, source, own = [], computeIndexes }: IndexedTable): TableRewrite {
  return {
    table,
    key,
    source: source ?? null,
    reads,
    own,
    rowsAtOnce: defaultRowsAtOnce,
    belongs: belongs(keyScope),
    isOld: (sql, keyring) => sql`t.index_version <> ${keyring.indexVersion}`,
    rewrite: computeIndexes,
  }
}

function belongs(keysOf: EncryptedTable['keyScope']): TableRewrite['belongs'] {
  return keysOf === 'instance' ? (sql) => sql`true` : (sql, scopeId) => sql`t.workspace_id = ${scopeId}`
}

export interface Batch {
  rewritten: number
  /** Rows with a value that cannot be decrypted. They are not changed. */
  broken: number
  /** Key of the last row; null at the end of the table. */
  lastKey: string[] | null
}

/**
 * Rewrites the next old rows after `after` to the current version, under their locks. Skips locked rows, so that it
 * never waits; another pass rewrites them.
 */
export async function rewriteBatch(scope: RewriteScope, after: readonly string[] | null): Promise<Batch> {
  const { keyring, rewriting } = scope
  const rows = await lockOldRows(scope, after)
  const updates: Promise<unknown>[] = []
  let broken = 0
  for (const row of rows) {
    const values = rewritten(keyring, rewriting, row)
    if (values === null) broken++
    else updates.push(update(scope, row, values).execute())
  }
  await Promise.all(updates)
  const last = rows.length === rewriting.rowsAtOnce ? rows.at(-1) : undefined
  const lastKey = last === undefined ? null : rewriting.key.map((column) => String(last[column]))
  return { rewritten: updates.length, broken, lastKey }
}

export async function countOld({ tx, keyring, scopeId, rewriting }: RewriteScope): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count
    from ${tx(rewriting.table)} t
    where ${rewriting.belongs(tx, scopeId)}
      and (${rewriting.isOld(tx, keyring)})`
  return row?.count ?? 0
}

async function lockOldRows(scope: RewriteScope, after: readonly string[] | null): Promise<KeyedRow[]> {
  const { tx, keyring, scopeId, rewriting } = scope
  const { table, key, source, reads, own } = rewriting
  const ownKeyColumns = key.map((column) => `t.${column}`)
  const keyColumns = tx`${tx(ownKeyColumns)}`
  // All writers of a source row, or of rows derived from it, lock the source row.
  const from =
    source === null
      ? tx`${tx(table)} t`
      : tx`${tx(table)} t join ${tx(source.table)} s on s.workspace_id = t.workspace_id and ${joined(tx, key, source.key)}`
  const readColumns = reads.map((column) => (source === null ? `t.${column}` : `s.${column}`))
  const columns = [...ownKeyColumns, ...own.map((column) => `t.${column}`), ...readColumns]
  const values = (after ?? []).map((value) => tx`${value}`)
  const isAfter = after === null ? tx`` : tx`and (${keyColumns}) > (${listed(tx, values)})`
  return tx<KeyedRow[]>`
    select ${tx(columns)}
    from ${from}
    where ${rewriting.belongs(tx, scopeId)}
      and (${rewriting.isOld(tx, keyring)})
      ${isAfter}
    order by ${keyColumns}
    limit ${rewriting.rowsAtOnce}
    for no key update skip locked`
}

function rewritten(
  keyring: Keyring,
  { rewrite }: TableRewrite,
  row: KeyedRow,
): ReturnType<TableRewrite['rewrite']> | null {
  try {
    return rewrite(keyring, row)
  } catch (error) {
    if (error instanceof DecryptionError) return null
    throw error
  }
}

function update({ tx, scopeId, rewriting }: RewriteScope, row: KeyedRow, values: ReturnType<TableRewrite['rewrite']>) {
  const { table, key, belongs } = rewriting
  const isRow = key.map((column) => tx`t.${tx(column)} = ${row[column]}`).reduce((all, one) => tx`${all} and ${one}`)
  return tx`
    update ${tx(table)} t
    set ${tx.set(values)}
    where ${belongs(tx, scopeId)}
      and ${isRow}`
}

function joined(sql: Sql, key: readonly string[], sourceKey: readonly string[]): Fragment {
  return key
    .map((column, n) => sql`s.${sql(sourceKey[n] ?? column)} = t.${sql(column)}`)
    .reduce((all, one) => sql`${all} and ${one}`)
}

function listed(sql: Sql, parts: readonly Fragment[]): Fragment {
  return parts.reduce((all, one) => sql`${all}, ${one}`)
}
