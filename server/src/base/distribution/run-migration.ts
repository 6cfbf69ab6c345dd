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

interface Piece {
  kind: 'words' | 'quoted' | 'comment' | 'end'
  text: string
}

/** Where a comment, a text or a name between quotes, or a text between dollars begins; and what ends a statement. */
const mark = /--|\/\*|'|"|\$\w*\$|;/g
const closing: Record<string, string> = { '--': '\n', '/*': '*/' }

/** A script's text in pieces. A quote that is doubled ends one of them and begins the next. */
function* piecesOf(script: string): Generator<Piece> {
  let from = 0
  for (;;) {
    mark.lastIndex = from
    const found = mark.exec(script)
    if (found === null) break
    const { 0: opened, index } = found
    yield { kind: 'words', text: script.slice(from, index) }
    const end = closing[opened] ?? opened
    const at = opened === ';' ? index : script.indexOf(end, index + opened.length)
    from = at === -1 ? script.length : at + end.length
    const kind = opened === ';' ? 'end' : opened in closing ? 'comment' : 'quoted'
    yield { kind, text: script.slice(index, from) }
  }
  yield { kind: 'words', text: script.slice(from) }
}

/** The statements of a script, each without its semicolon. */
export function statementsOf(script: string): string[] {
  const statements = ['']
  for (const { kind, text } of piecesOf(script)) {
    if (kind === 'end') statements.push('')
    else statements.push(`${statements.pop()}${text}`)
  }
  return statements.map((statement) => statement.trim()).filter((statement) => withoutComments(statement) !== '')
}

/** Whether the statement makes a table of its own; a partition belongs to its parent. */
export function makesTable(statement: string): boolean {
  const words = withoutComments(statement)
  return /^create (?:unlogged )?table\b/i.test(words) && !/\bpartition of\b/i.test(words)
}

const withoutComments = (statement: string) =>
  [...piecesOf(statement)]
    .map(({ kind, text }) => (kind === 'comment' ? '' : text))
    .join('')
    .trim()
