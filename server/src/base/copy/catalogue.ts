import type pg from 'pg'
import type { DatabaseAddress } from '../postgres/address.ts'
import { connect } from '../postgres/connect.ts'
import { copyIn } from './copy.ts'

/** A table whose rows are kept: those of unlogged ones count from the start after a crash, and after a copy. */
export interface CopiedTable {
  name: string
  columns: string[]
  /** Its rows are in its parts, of which every database has its own. */
  isPartitioned?: boolean
}

interface CopiedSequence {
  name: string
  value: string
  isCalled: boolean
}

/** What of a database is copied, as one transaction sees it. */
export interface Catalogue {
  tables: CopiedTable[]
  sequences: CopiedSequence[]
}

export interface AppliedMigration {
  number: number
  name: string
  checksum: string
}

/**
 * Every table of ours but the list of migrations, which whoever makes the tables writes. One with partitions is one: its rows
 * find theirs where they are brought.
 */
export async function readCatalogue(client: pg.Client): Promise<Catalogue> {
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

/** None where there is not even the list. */
export async function readMigrationsOf(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<{ isThere: boolean }>(`select to_regclass('migrations') is not null as "isThere"`)
  if (!rows[0]?.isThere) return []
  const applied = await client.query<AppliedMigration>('select number, name, checksum from migrations order by number')
  return applied.rows
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The rows of a table, or for it, in the form that PostgreSQL 15 to 18 share. */
export function copyStatement({ name, columns, isPartitioned }: CopiedTable, way: 'to stdout' | 'from stdin'): string {
  const list = columns.map(quoted).join(', ')
  if (way === 'from stdin')
    return `copy ${quoted(name)} (${list}) from stdin (format binary${isPartitioned ? '' : ', freeze'})`
  const source = isPartitioned ? `(select ${list} from ${quoted(name)})` : `${quoted(name)} (${list})`
  return `copy ${source} to stdout (format binary)`
}

interface ForeignKey {
  name: string
  table: string
  definition: string
}

interface Loading {
  /** Fills a table, which is empty, and returns how many rows that were. */
  fill(table: CopiedTable, bytes: AsyncIterable<Uint8Array>): Promise<number>
}

/**
 * Fills the tables of a database that migrations have made, all of them or none: when `work` throws, or the process ends,
 * they are as before. Foreign keys are checked for all rows at once, at the end.
 */
export async function loadTables(
  client: pg.Client,
  { tables, sequences }: Catalogue,
  work: (loading: Loading) => Promise<void>,
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

/** Copies take as long as they take, and what they read must look the same on every server. */
const parameters = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  bytea_output: 'hex',
  IntervalStyle: 'postgres',
}

/** A session of its own for `work`, which is ended whatever comes of it. */
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
    // At once: a copy that nobody reads to its end would keep a polite goodbye waiting.
    client.connection.stream.destroy()
  }
}

/** Has everything that `work` reads be of one moment, and says which: whatever was committed before it is seen. */
export async function inSnapshot<T>(client: pg.Client, work: (takenAt: Date) => Promise<T>): Promise<T> {
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query<{ at: Date }>('select statement_timestamp() as at')
  const answer = await work(rows[0]?.at ?? new Date(0))
  await client.query('commit')
  return answer
}
