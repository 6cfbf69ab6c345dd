import type { Sql, Tx } from '../db.ts'
import { type PlacedTable, type Reference, readTables } from './table-placement.ts'

/** Exists only while foreign keys are removed. */
const foreignKeyTable = 'foreign_keys_to_put_back'

/** Returns true while tables are being distributed; meanwhile foreign keys are not enforced. */
export async function isDistributing(sql: Sql): Promise<boolean> {
  return (await sql`select where to_regclass(${foreignKeyTable}) is not null`).length > 0
}

/** A removed foreign key, with what restores it. */
interface ForeignKey extends Reference {
  name: string
  definition: string
}

/** One transaction of the distribution. */
export type Step =
  | { kind: 'take keys away'; tables: string[] }
  | { kind: 'copy everywhere'; table: string; rows: number; bytes: number }
  | { kind: 'spread'; table: string; by: string; beside: string | null; rows: number; bytes: number }
  | { kind: 'clear'; table: string; bytes: number }
  | { kind: 'put key back'; key: ForeignKey }
  | { kind: 'end' }

interface State {
  tables: readonly PlacedTable[]
  /** Removed foreign keys; null if no distribution is in progress. */
  keys: readonly ForeignKey[] | null
}

/**
 * Returns the remaining steps in order; none if every table is placed. Derives them from the current state, so that an
 * interrupted run can continue. Foreign keys are removed meanwhile, because a local table can't reference a distributed
 * one. Small tables come first, so that problems show early.
 */
export function planOf({ tables, keys }: State): Step[] {
  const toTurn = tables.filter(({ place, kind }) => place.kind !== 'coordinator' && kind !== place.kind)
  const bySize = toTurn.toSorted((a, b) => a.bytes - b.bytes)
  const names = new Set(toTurn.map(({ name }) => name))
  const isInTheWay = tables.some(({ name, references }) => references.some((to) => names.has(name) || names.has(to)))
  const steps: Step[] = []
  if (isInTheWay) steps.push({ kind: 'take keys away', tables: [...names] })
  for (const { name: table, place, rows, bytes } of bySize) {
    if (place.kind === 'everywhere') steps.push({ kind: 'copy everywhere', table, rows, bytes })
  }
  let beside = tables.find(({ kind }) => kind === 'spread')?.name ?? null
  for (const { name: table, place, rows, bytes } of bySize) {
    if (place.kind !== 'spread') continue
    steps.push({ kind: 'spread', table, by: place.by, beside, rows, bytes })
    beside ??= table
  }
  for (const { name: table, place, bytes, hasRows } of tables) {
    if (place.kind !== 'coordinator' && hasRows) steps.push({ kind: 'clear', table, bytes })
  }
  for (const key of keys ?? []) steps.push({ kind: 'put key back', key })
  if (keys !== null || isInTheWay) steps.push({ kind: 'end' })
  return steps
}

/** Returns the remaining steps. Changes nothing. */
export async function readPlan(sql: Sql): Promise<Step[]> {
  return planOf(await readState(sql))
}

/** Reads the state that the plan is derived from. */
export async function readState(sql: Sql): Promise<State> {
  const keys = (await isDistributing(sql)) ? await readKeysAway(sql) : null
  return { tables: await readTables(sql, keys ?? []), keys }
}

const readKeysAway = (sql: Sql) => sql<ForeignKey[]>`
  select table_name as "table", name, "references", definition
  from ${sql(foreignKeyTable)}
  order by table_name, name`

export async function runStep(tx: Tx, step: Step): Promise<void> {
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
      await tx`drop table ${tx(foreignKeyTable)}`
  }
}

/** Removes foreign keys from and to the tables. Some may already be removed, by a version with fewer tables. */
async function takeKeysAway(tx: Tx, tables: string[]): Promise<void> {
  await tx`
    create table if not exists ${tx(foreignKeyTable)} (
      table_name text not null,
      name text not null,
      "references" text not null,
      definition text not null,
      primary key (table_name, name)
    )`
  const keys = await tx<ForeignKey[]>`
    insert into ${tx(foreignKeyTable)} (table_name, name, "references", definition)
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

/** Deletes local rows, and analyzes the table for the planner. */
async function clear(tx: Tx, table: string): Promise<void> {
  await tx`select truncate_local_data_after_distributing_table(${table}::regclass)`
  await tx`analyze ${tx(table)}`
}

async function putKeyBack(tx: Tx, { table, name, definition }: ForeignKey): Promise<void> {
  await tx.unsafe(`alter table "${table}" add constraint "${name}" ${definition}`)
  await tx`delete from ${tx(foreignKeyTable)} where table_name = ${table} and name = ${name}`
}
