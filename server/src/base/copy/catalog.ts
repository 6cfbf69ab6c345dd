import type pg from 'pg'
import type { DatabaseAddress } from '../postgres/address.ts'
import { connect } from '../postgres/connect.ts'
import { copyIn } from './copy.ts'

/** A table to copy. Unlogged tables are not copied: they are empty after a crash anyway. */
export interface CopiedTable {
  name: string
  columns: string[]
  /** Its rows are in partitions, which can differ between databases. */
  isPartitioned?: boolean
}

interface CopiedSequence {
  name: string
  value: string
  isCalled: boolean
}

/** What is copied, from one snapshot. */
export interface Catalog {
  tables: CopiedTable[]
  sequences: CopiedSequence[]
}

export interface AppliedMigration {
  number: number
  name: string
  checksum: string
}

/**
 * Reads all tables except the list of migrations, which the migration run of the target writes. A partitioned table
 * counts as one: the target routes its rows to its own partitions.
 */
export async function readCatalog(client: pg.Client): Promise<Catalog> {
  const { rows: tables } = await client.query<CopiedTable>(`
    select
      c.relname as name,
      array_agg(a.attname::text order by a.attnum) as columns,
      c.relkind = 'p' as "isPartitioned"
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p')
      and not c.relispartition
      and c.relpersistence = 'p'
      and c.relname <> 'migrations'
    group by c.relname, c.relkind
    order by c.relname`)
  const { rows: names } = await client.query<{ name: string }>(`
    select relname as name
    from pg_class
    where relnamespace = current_schema()::regnamespace
      and relkind = 'S'
    order by relname`)
  const sequences: CopiedSequence[] = []
  for (const { name } of names) {
    const { rows } = await client.query<{ value: string; isCalled: boolean }>(
      `select last_value::text as value, is_called as "isCalled" from ${quoted(name)}`,
    )
    sequences.push(...rows.map((row) => ({ name, ...row })))
  }
  return { tables, sequences }
}

/** Returns the applied migrations; none if the table is missing. */
export async function readAppliedMigrations(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<{ isThere: boolean }>(`select to_regclass('migrations') is not null as "isThere"`)
  if (!rows[0]?.isThere) return []
  const applied = await client.query<AppliedMigration>('select number, name, checksum from migrations order by number')
  return applied.rows
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Returns the copy statement in the binary format, which PostgreSQL 15 to 18 share. */
export function copyStatement(
  { name, columns, isPartitioned }: CopiedTable,
  direction: 'to stdout' | 'from stdin',
): string {
  const list = columns.map(quoted).join(', ')
  if (direction === 'from stdin')
    return `copy ${quoted(name)} (${list}) from stdin (format binary${isPartitioned ? '' : ', freeze'})`
  const source = isPartitioned ? `(select ${list} from ${quoted(name)})` : `${quoted(name)} (${list})`
  return `copy ${source} to stdout (format binary)`
}

interface ForeignKey {
  name: string
  table: string
  definition: string
}

interface TableLoader {
  /** Fills an empty table and returns the number of rows. */
  fill(table: CopiedTable, bytes: AsyncIterable<Uint8Array>): Promise<number>
}

/**
 * Fills the tables of a migrated database, all or none: if `work` throws or the process dies, they stay unchanged.
 * Foreign keys are checked for all rows at the end.
 */
export async function loadTables(
  client: pg.Client,
  { tables, sequences }: Catalog,
  work: (loader: TableLoader) => Promise<void>,
): Promise<void> {
  await client.query('begin')
  try {
    const keys = await listForeignKeys(client)
    for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${quoted(name)}`)
    await client.query(`truncate ${tables.map(({ name }) => quoted(name)).join(', ')}`)
    await work({ fill: (table, bytes) => copyIn(client, copyStatement(table, 'from stdin'), bytes) })
    for (const { name, value, isCalled } of sequences) {
      await client.query('select setval($1::regclass, $2::bigint, $3)', [quoted(name), value, isCalled])
    }
    for (const { table, name, definition } of keys) {
      await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
  await client.query('analyze')
}

async function listForeignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(`
    select conname as name, conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where connamespace = current_schema()::regnamespace
      and contype = 'f'
    order by conname`)
  return rows
}

/** Disables timeouts, because copies take long, and fixes formats, so that values look the same on every server. */
const parameters = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  bytea_output: 'hex',
  IntervalStyle: 'postgres',
}

/** Runs `work` with its own session, and always closes it. */
export async function withSession<T>(
  address: DatabaseAddress,
  applicationName: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connect(address, { applicationName, parameters })
  client.on('error', () => undefined)
  try {
    return await work(client)
  } finally {
    // Immediately: an orderly close would wait for a copy that is not read to its end.
    client.connection.stream.destroy()
  }
}

/** Runs `work` in one snapshot and passes its time; everything committed before is visible. */
export async function inSnapshot<T>(client: pg.Client, work: (takenAt: Date) => Promise<T>): Promise<T> {
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<{ at: Date }>('select statement_timestamp() as at')
  const answer = await work(rows[0]?.at ?? new Date(0))
  await client.query('commit')
  return answer
}
