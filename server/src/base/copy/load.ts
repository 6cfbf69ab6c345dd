import type pg from 'pg'
import { type Catalogue, type CopiedTable, copyStatement, quoted } from './catalogue.ts'
import { copyIn } from './copy.ts'

interface ForeignKey {
  name: string
  table: string
  definition: string
}

export interface Loading {
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
