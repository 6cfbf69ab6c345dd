import type { Sql, Tx } from '../db.ts'
import { type PlacedTable, type Reference, readTables } from './table-placement.ts'

/** Is there as long as foreign keys are away, and no longer. */
const foreignKeyTable = 'foreign_keys_to_put_back'

/** Whether tables are being turned over: meanwhile the database does not hold its promises. */
export async function isDistributing(sql: Sql): Promise<boolean> {
  return (await sql`select where to_regclass(${foreignKeyTable}) is not null`).length > 0
}

/** A foreign key that was taken away, as it is to be put back. */
interface ForeignKey extends Reference {
  name: string
  definition: string
}

/** One transaction of the way from one server to several. */
export type Step =
  | { kind: 'take keys away'; tables: string[] }
  | { kind: 'copy everywhere'; table: string; rows: number; bytes: number }
  | { kind: 'spread'; table: string; by: string; beside: string | null; rows: number; bytes: number }
  | { kind: 'clear'; table: string; bytes: number }
  | { kind: 'put key back'; key: ForeignKey }
  | { kind: 'end' }

interface State {
  tables: readonly PlacedTable[]
  /** Those that were taken away; null where nothing is under way. */
  keys: readonly ForeignKey[] | null
}

/**
 * What is still to be done, in its order: nothing where every table stands in its place. It follows from what there is, so that whoever
 * was stopped half-way goes on there. Foreign keys are away meanwhile: none may lead from a server's own table to one that is
 * spread. Small tables go first, so that what is wrong is found soon.
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

/** What is still to be done. Nothing is changed. */
export async function readPlan(sql: Sql): Promise<Step[]> {
  return planOf(await readState(sql))
}

/** What there is, from which the plan follows. */
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

/** Those that lead from or to one of the tables. Some may be away already: of a run that a version with more tables takes up. */
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

/** Also counts the rows where they are now, by which statements are planned. */
async function clear(tx: Tx, table: string): Promise<void> {
  await tx`select truncate_local_data_after_distributing_table(${table}::regclass)`
  await tx`analyze ${tx(table)}`
}

async function putKeyBack(tx: Tx, { table, name, definition }: ForeignKey): Promise<void> {
  await tx.unsafe(`alter table "${table}" add constraint "${name}" ${definition}`)
  await tx`delete from ${tx(foreignKeyTable)} where table_name = ${table} and name = ${name}`
}
