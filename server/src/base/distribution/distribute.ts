import { allowTime, type Db, type Sql, type Tx } from '../db.ts'
import { lockMigrations } from '../migrate.ts'
import { type ForeignKey, planOf, type State, type Step } from './plan.ts'
import { readTables } from './tables.ts'

/** A copy of a hundred million rows takes hours. */
const stepMs = 86_400_000
/** Is there as long as foreign keys are away, and no longer. */
const keyTable = 'foreign_keys_to_put_back'

/** What is still to be done. Nothing is changed. */
export async function readPlan(sql: Sql): Promise<Step[]> {
  return planOf(await readState(sql))
}

/** Whether tables are being turned over: no service may start, as the database does not hold its promises meanwhile. */
export async function isBeingDistributed(sql: Sql): Promise<boolean> {
  return (await sql`select where to_regclass(${keyTable}) is not null`).length > 0
}

/**
 * Does the next of what is still to be done, in one transaction, and returns what is left: null when all is done. Several may call it at
 * once, and whoever is killed leaves it as it was.
 */
export function takeStep(db: Db, onStep: (step: Step) => void): Promise<Step[] | null> {
  return db.tx(async (tx) => {
    await allowTime(tx, stepMs)
    await tx`set local lock_timeout = 0`
    await lockMigrations(tx)
    const [step, ...rest] = planOf(await readState(tx))
    if (step === undefined) return null
    onStep(step)
    await run(tx, step)
    return rest
  })
}

async function readState(sql: Sql): Promise<State> {
  const keys = (await isBeingDistributed(sql)) ? await readKeysAway(sql) : null
  const tables = await readTables(sql, keys ?? [])
  return { tables, keys }
}

function run(tx: Tx, step: Step): Promise<unknown> {
  switch (step.kind) {
    case 'take keys away':
      return takeKeysAway(tx, step.tables)
    case 'copy everywhere':
      return tx`select create_reference_table(${step.table}::regclass)`
    case 'spread':
      return tx`
        select create_distributed_table(${step.table}::regclass, ${step.by}, colocate_with => ${step.beside ?? 'none'})`
    case 'clear':
      return clear(tx, step.table)
    case 'put key back':
      return putKeyBack(tx, step.key)
    case 'end':
      return tx`drop table ${tx(keyTable)}`
  }
}

/** Those that lead from or to one of the tables. Several runs may each find some: as when one was stopped between two versions. */
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

const readKeysAway = (sql: Sql) => sql<ForeignKey[]>`
  select table_name as "table", name, "references", definition
  from ${sql(keyTable)}
  order by table_name, name`

async function putKeyBack(tx: Tx, { table, name, definition }: ForeignKey): Promise<void> {
  await tx.unsafe(`alter table "${table}" add constraint "${name}" ${definition}`)
  await tx`delete from ${tx(keyTable)} where table_name = ${table} and name = ${name}`
}
