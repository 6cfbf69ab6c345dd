import type pg from 'pg'

/** A table whose rows are kept: those of unlogged ones count from the start after a crash, and after a copy. */
export interface CopiedTable {
  name: string
  columns: string[]
  /** Its rows are in its parts, of which every database has its own. */
  isPartitioned?: boolean
}

export interface CopiedSequence {
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
