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
export type DistributionStep =
  | { kind: 'take keys away'; tables: string[] }
  | { kind: 'copy everywhere'; table: string; rows: number; bytes: number }
  | { kind: 'spread'; table: string; by: string; colocatedWith: string | null; rows: number; bytes: number }
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
export function planSteps({ tables, keys }: State): DistributionStep[] {
  const pending = tables.filter(({ placement, kind }) => placement.kind !== 'coordinator' && kind !== placement.kind)
  const bySize = pending.toSorted((a, b) => a.bytes - b.bytes)
  const names = new Set(pending.map(({ name }) => name))
  const hasForeignKeys = tables.some(({ name, references }) =>
    references.some((to) => names.has(name) || names.has(to)),
  )
  const steps: DistributionStep[] = []
  if (hasForeignKeys) steps.push({ kind: 'take keys away', tables: [...names] })
  for (const { name: table, placement, rows, bytes } of bySize) {
    if (placement.kind === 'everywhere') steps.push({ kind: 'copy everywhere', table, rows, bytes })
  }
  let colocatedWith = tables.find(({ kind }) => kind === 'spread')?.name ?? null
  for (const { name: table, placement, rows, bytes } of bySize) {
    if (placement.kind !== 'spread') continue
    steps.push({ kind: 'spread', table, by: placement.by, colocatedWith, rows, bytes })
    colocatedWith ??= table
  }
  for (const { name: table, placement, bytes, hasRows } of tables) {
    if (placement.kind !== 'coordinator' && hasRows) steps.push({ kind: 'clear', table, bytes })
  }
  for (const key of keys ?? []) steps.push({ kind: 'put key back', key })
  if (keys !== null || hasForeignKeys) steps.push({ kind: 'end' })
  return steps
}

/** Returns the remaining steps. Changes nothing. */
export async function readPlan(sql: Sql): Promise<DistributionStep[]> {
  return planSteps(await readState(sql))
}

/** Reads the state that the plan is derived from. */
export async function readState(sql: Sql): Promise<State> {
  const keys = (await isDistributing(sql)) ? await readDroppedKeys(sql) : null
  return { tables: await readTables(sql, keys ?? []), keys }
}

const readDroppedKeys = (sql: Sql) => sql<ForeignKey[]>`
  select table_name as "table", name, "references", definition
  from ${sql(foreignKeyTable)}
  order by table_name, name`

export async function runStep(tx: Tx, step: DistributionStep): Promise<void> {
  switch (step.kind) {
    case 'take keys away':
      return dropForeignKeys(tx, step.tables)
    case 'copy everywhere':
      await tx`select create_reference_table(${step.table}::regclass)`
      return
    case 'spread':
      await tx`
        select create_distributed_table(${step.table}::regclass, ${step.by}, colocate_with => ${step.colocatedWith ?? 'none'})`
      return
    case 'clear':
      return clearLocalRows(tx, step.table)
    case 'put key back':
      return restoreForeignKey(tx, step.key)
    case 'end':
      await tx`drop table ${tx(foreignKeyTable)}`
  }
}

/** Removes foreign keys from and to the tables. Some may already be removed, by a version with fewer tables. */
async function dropForeignKeys(tx: Tx, tables: string[]): Promise<void> {
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
async function clearLocalRows(tx: Tx, table: string): Promise<void> {
  await tx`select truncate_local_data_after_distributing_table(${table}::regclass)`
  await tx`analyze ${tx(table)}`
}

async function restoreForeignKey(tx: Tx, { table, name, definition }: ForeignKey): Promise<void> {
  await tx.unsafe(`alter table "${table}" add constraint "${name}" ${definition}`)
  await tx`delete from ${tx(foreignKeyTable)} where table_name = ${table} and name = ${name}`
}
