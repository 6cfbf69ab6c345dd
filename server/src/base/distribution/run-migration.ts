import type { Tx } from '../db.ts'
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

/** What a semicolon does not end: comments, quoted texts and names, and texts between dollars. */
const whole = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;/g

/** The statements of a script, each without its semicolon. */
export function statementsOf(script: string): string[] {
  const statements: string[] = []
  let from = 0
  for (const { 0: found, index } of script.matchAll(whole)) {
    if (found !== ';') continue
    statements.push(script.slice(from, index))
    from = index + 1
  }
  statements.push(script.slice(from))
  return statements.map((statement) => statement.trim()).filter((statement) => withoutComments(statement) !== '')
}

/** Whether the statement makes a table of its own; a partition belongs to its parent. */
export function makesTable(statement: string): boolean {
  const words = withoutComments(statement)
  return /^create (?:unlogged )?table\b/i.test(words) && !/\bpartition of\b/i.test(words)
}

const withoutComments = (statement: string) => statement.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim()
