import type { Sql, Tx } from '../db.ts'
import { type ForeignKey, planOf, type State, type Step } from './plan.ts'
import { readTables } from './tables.ts'
import { isUnderWay, keyTable } from './under-way.ts'

/** What is still to be done. Nothing is changed. */
export async function readPlan(sql: Sql): Promise<Step[]> {
  return planOf(await readState(sql))
}

/** What there is, from which the plan follows. */
export async function readState(sql: Sql): Promise<State> {
  const keys = (await isUnderWay(sql)) ? await readKeysAway(sql) : null
  return { tables: await readTables(sql, keys ?? []), keys }
}

const readKeysAway = (sql: Sql) => sql<ForeignKey[]>`
  select table_name as "table", name, "references", definition
  from ${sql(keyTable)}
  order by table_name, name`

export async function takeStep(tx: Tx, step: Step): Promise<void> {
  switch (step.kind) {
    case 'take keys away':
      return takeKeysAway(tx, step.tables)
    case 'copy everywhere':
      await tx`select create_reference_table(${step.table}::regclass)`
      return
    case 'spread':
      await tx`
        select create_distributed_table(${step.table}::regclass, ${step.by}, colocate_with => ${step.beside ?? 'none'})`
      return
    case 'clear':
      return clear(tx, step.table)
    case 'put key back':
      return putKeyBack(tx, step.key)
    case 'end':
      await tx`drop table ${tx(keyTable)}`
  }
}

/** Those that lead from or to one of the tables. Some may be away already: of a run that a version with more tables takes up. */
async function takeKeysAway(tx: Tx, tables: string[]): Promise<void> {
  await tx`
    create table if not exists ${tx(keyTable)} (
      table_name text not null,
      name text not null,
      "references" text not null,
      definition text not null,
      primary key (table_name, name)
    )`
  const keys = await tx<ForeignKey[]>`
    insert into ${tx(keyTable)} (table_name, name, "references", definition)
    select c.relname, k.conname, f.relname, pg_get_constraintdef(k.oid)
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_class f on f.oid = k.confrelid
    where k.contype = 'f'
      and k.conparentid = 0
      and c.relnamespace = current_schema()::regnamespace
      and (c.relname = any(${tables}) or f.relname = any(${tables}))
    returning table_name as "table", name, "references", definition`
  for (const { table, name } of keys) await tx`alter table ${tx(table)} drop constraint ${tx(name)}`
}

/** Also counts the rows where they are now, by which statements are planned. */
async function clear(tx: Tx, table: string): Promise<void> {
  await tx`select truncate_local_data_after_distributing_table(${table}::regclass)`
  await tx`analyze ${tx(table)}`
}

async function putKeyBack(tx: Tx, { table, name, definition }: ForeignKey): Promise<void> {
  await tx.unsafe(`alter table "${table}" add constraint "${name}" ${definition}`)
  await tx`delete from ${tx(keyTable)} where table_name = ${table} and name = ${name}`
}
