import type pg from 'pg'
import { withSession } from '../../server/src/base/copy/catalog.ts'
import { socketAddress } from '../../server/src/base/postgres/address.ts'
import type { Database } from '../database-address.ts'

interface Index {
  table: string
  name: string
  definition: string
  /** Name of the primary key constraint, if it is one. */
  constraint: string | null
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

/** Settings that are off while loading, which need not survive a crash. */
const settingsOff = ['fsync', 'full_page_writes', 'autovacuum']

export interface Filling {
  leads: () => Promise<void>
  others: () => Promise<void>
}

/**
 * Drops the indexes and foreign keys of unpartitioned tables, runs `fill`, and creates them again: building an index is
 * faster than updating it. Prints the time of each step, and of a vacuum. The foreign keys are created `not valid`, so
 * filled rows are not checked.
 */
export async function withoutIndexes(options: Database, tables: readonly string[], fill: Filling): Promise<void> {
  const session = <T>(does: (client: pg.Client) => Promise<T>) =>
    withSession(socketAddress(options), 'bench indexes', does)
  await session(async (client) => {
    for (const name of settingsOff) await client.query(`alter system set ${name} = off`)
    await client.query('select pg_reload_conf()')
    const indexes = await listIndexes(client, tables)
    const keys = await listForeignKeys(client, tables)
    for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`)
    for (const { table, name, constraint } of indexes) {
      await client.query(constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`)
    }
    await fill.leads()
    const isOfLeads = ({ table }: Index) => ['leads', 'lead_search'].includes(table)
    const make = (of: readonly Index[]) => session((other) => makeAll(other, of))
    // One process builds the token indexes. Primary keys wait for them: token tables come last.
    const inLanes = (of: readonly Index[]) => [make(of.filter(isOfTokens)), make(of.filter((one) => !isOfTokens(one)))]
    await Promise.all([...inLanes(indexes.filter(isOfLeads)), fill.others()])
    await Promise.all(inLanes(indexes.filter((one) => !isOfLeads(one))))
    for (const { table, name, definition } of keys) {
      await timed(`foreign key ${name}`, () =>
        client.query(`alter table ${table} add constraint ${name} ${definition} not valid`),
      )
    }
    const vacuumed = tables.filter((table) => !table.startsWith('message'))
    for (const table of vacuumed) await timed(`vacuum ${table}`, () => client.query(`vacuum (analyze) ${table}`))
    await client.query('analyze')
    for (const name of settingsOff) await client.query(`alter system reset ${name}`)
    await client.query('select pg_reload_conf()')
    await client.query('checkpoint')
  })
}

const isOfTokens = ({ definition }: Index): boolean => definition.includes('USING gin')

async function makeAll(client: pg.Client, indexes: readonly Index[]): Promise<void> {
  await client.query(`set maintenance_work_mem = '1GB'`)
  for (const { table, name, definition, constraint } of indexes) {
    await timed(`index ${name}`, () => client.query(definition))
    if (constraint !== null) {
      await client.query(`alter table ${table} add constraint ${name} primary key using index ${name}`)
    }
  }
}

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now()
  await work()
  process.stderr.write(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
}

/** Skips partitioned tables: they accept neither an existing index as primary key nor a `not valid` foreign key. */
async function listIndexes(client: pg.Client, tables: readonly string[]): Promise<Index[]> {
  const { rows } = await client.query<Index>(
    `select
      i.indrelid::regclass::text as table,
      i.indexrelid::regclass::text as name,
      pg_get_indexdef(i.indexrelid) as definition,
      k.conname as constraint
    from pg_index i
    join pg_class c on c.oid = i.indrelid and c.relkind = 'r'
    left join pg_constraint k on k.conindid = i.indexrelid and k.contype = 'p'
    where i.indrelid = any ($1::regclass[])
    order by 1 desc, 2`,
    [tables],
  )
  return rows
}

async function listForeignKeys(client: pg.Client, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f'
      and conrelid in (select oid from pg_class where relkind = 'r')
      and (conrelid = any ($1::regclass[]) or confrelid = any ($1::regclass[]))
    order by 1, 2`,
    [tables],
  )
  return rows
}
