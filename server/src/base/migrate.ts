import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDistributing, readPlan, runStep, type Step } from './citus/distribute-tables.ts'
import { hasCitus, readTables } from './citus/table-placement.ts'
import { type Db, setStatementTimeout, type Tx } from './db.ts'
import { lockNumbers } from './lease-session.ts'

interface Migration {
  number: number
  /** The file's name without `.sql`, `0001-workspaces`. */
  name: string
  text: string
  checksum: string
}

interface AppliedRow {
  number: number
  name: string
  checksum: string
}

const ownMigrations = fileURLToPath(new URL('../../migrations', import.meta.url))
/** What the table of migrations has as a comment as long as rows that were brought here are not proven. */
export const unfinishedMove = 'A move into this database is not finished'
/** Of a large table a new index may take hours, and so may its copy to other servers. */
const migrationMs = 86_400_000

/**
 * Brings the database to the newest migration of the folder and names those it applied. Several processes may call
 * it at once. Throws when an applied file was edited, and when the database is newer than the files. With `last` it
 * stops at the migration of that number.
 */
export async function migrate(
  db: Db,
  folder: string = ownMigrations,
  last: number = Number.POSITIVE_INFINITY,
): Promise<{ applied: string[] }> {
  const migrations = (await readMigrations(folder)).filter(({ number }) => number <= last)
  const applied: string[] = []
  for (;;) {
    const name = await db.tx((tx) => applyNext(tx, migrations))
    if (name === undefined) return { applied }
    applied.push(name)
  }
}

/**
 * Spreads the tables over the servers that share them: does what is still to be done, each step a transaction, and says of each how
 * many follow. Several may do so at once, and who is killed leaves what the next one goes on with.
 */
export async function distribute(db: Db, onStep: (step: Step, left: number) => void): Promise<void> {
  while (await db.tx((tx) => takeNextStep(tx, onStep)));
}

/** False when all is done. */
async function takeNextStep(tx: Tx, onStep: (step: Step, left: number) => void): Promise<boolean> {
  await begin(tx)
  const [step, ...rest] = await readPlan(tx)
  if (step === undefined) return false
  onStep(step, rest.length)
  await runStep(tx, step)
  return true
}

/** Throws unless the files begin with these migrations: else a database of another version was made by them. */
export async function checkKnown(applied: readonly Omit<Migration, 'text'>[]): Promise<void> {
  refuseDifferences([...applied], await readMigrations(ownMigrations))
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(files.map((file, index) => readMigration(folder, file, index + 1)))
}

async function readMigration(folder: string, file: string, expected: number): Promise<Migration> {
  const number = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1])
  if (number !== expected) {
    const due = String(expected).padStart(4, '0')
    throw new Error(`Migrations are numbered without gaps or repeats: expected ${due}-name.sql, found ${file}`)
  }
  // A checkout on Windows may have changed the line ends, which is no edit.
  const text = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n')
  return { number, name: file.slice(0, -4), text, checksum: createHash('sha256').update(text).digest('hex') }
}

/** One migration, one transaction. Whoever waits for the lock then sees what the one before it has applied. */
async function applyNext(tx: Tx, migrations: Migration[]): Promise<string | undefined> {
  await begin(tx)
  const applied = await readApplied(tx)
  await refuseUnfinished(tx)
  refuseDifferences(applied, migrations)
  const next = migrations[applied.length]
  if (next === undefined) return undefined

  try {
    await runMigration(tx, next.text)
  } catch (error) {
    throw new Error(`Migration ${next.name} failed; nothing of it was kept`, { cause: error })
  }
  await tx`
    insert into migrations (number, name, checksum, applied_at)
    values (${next.number}, ${next.name}, ${next.checksum}, now())`
  return next.name
}

/** Until the end of the transaction nobody else changes tables. */
async function begin(tx: Tx): Promise<void> {
  await setStatementTimeout(tx, migrationMs)
  await tx`set local lock_timeout = 0`
  await tx`select pg_advisory_xact_lock(${lockNumbers.migration}::bigint)`
}

async function readApplied(tx: Tx): Promise<AppliedRow[]> {
  await tx`
    create table if not exists migrations (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz(3) not null
    )`
  return tx<AppliedRow[]>`
    select number, name, checksum
    from migrations
    order by number`
}

/** What is written here now, the next try of the move would take away; and what is being spread holds no promises. */
async function refuseUnfinished(tx: Tx): Promise<void> {
  const rows = await tx`select where obj_description('migrations'::regclass, 'pg_class') = ${unfinishedMove}`
  if (rows.length > 0) throw new Error(`${unfinishedMove}: run parley move again, from where the data are.`)
  if (await isDistributing(tx)) {
    throw new Error(
      'The tables are being spread over several servers: run parley distribute, which goes on where it ended.',
    )
  }
}

function refuseDifferences(applied: AppliedRow[], migrations: Migration[]): void {
  const newest = applied.at(-1)
  const known = migrations.at(-1)
  if (newest !== undefined && newest.number > (known?.number ?? 0)) {
    throw new Error(
      `The database is at migration ${newest.name}, but this version of Parley ends at ${known?.name ?? 'none'}. ` +
        'Start the newer version of Parley again, or restore a backup made before the update.',
    )
  }
  for (const [index, row] of applied.entries()) {
    if (row.checksum === migrations[index]?.checksum) continue
    throw new Error(
      `Migration ${row.name} was edited after it was applied. Restore the file as it was released, ` +
        'and make the change in a new migration.',
    )
  }
}

/**
 * Runs a migration's script. Where tables are spread, it goes on to every server, and the tables that it makes find their place by the
 * rule that those before them did.
 */
async function runMigration(tx: Tx, script: string): Promise<void> {
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
    if (next.kind === 'take keys away') await unseen(tx, () => runStep(tx, next))
    else await runStep(tx, next)
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
