import type { Tx } from '../db.ts'
import { makesTable, statementsOf } from './script.ts'
import { hasCitus, readTables } from './tables.ts'
import { readPlan, takeStep } from './turn.ts'

/**
 * Runs a migration's script. Where tables are spread, it goes on to every server, and the tables that it makes find their place by the
 * rule that those before them did.
 */
export async function runMigration(tx: Tx, script: string): Promise<void> {
  if (!(await isSpread(tx))) {
    await tx.unsafe(script)
    return
  }
  // By turns: what a transaction does to several pieces at once, it could not see afterwards.
  await tx`set local citus.multi_shard_modify_mode = 'sequential'`
  for (const statement of statementsOf(script)) {
    // A new table is this server's alone at first, and from such a one no foreign key may lead to a table that is spread. Unseen, it may.
    if (makesTable(statement)) await unseen(tx, () => tx.unsafe(statement))
    else await tx.unsafe(statement)
  }
  for (let [step] = await readPlan(tx); step !== undefined; [step] = await readPlan(tx)) {
    const next = step
    if (next.kind === 'take keys away') await unseen(tx, () => takeStep(tx, next))
    else await takeStep(tx, next)
  }
}

async function isSpread(tx: Tx): Promise<boolean> {
  return (await hasCitus(tx)) && (await readTables(tx, [])).some(({ kind }) => kind === 'spread')
}

/** Citus does not look at what `work` changes, and does it nowhere else. */
async function unseen(tx: Tx, work: () => Promise<unknown> | PromiseLike<unknown>): Promise<void> {
  await tx`set local citus.enable_ddl_propagation = off`
  await work()
  await tx`set local citus.enable_ddl_propagation = on`
}
