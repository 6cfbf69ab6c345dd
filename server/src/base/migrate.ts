import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DistributionStep, isDistributing, readPlan, runStep } from './citus/distribute-tables.ts'
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
/** Comment on the table of migrations until copied rows are verified. */
export const unfinishedMove = 'A move into this database is not finished'
/** A new index on a large table, or its copy to other servers, can take hours. */
const migrationTimeoutMs = 86_400_000

/**
 * Applies the pending migrations of the folder, up to number `last`, and returns their names. Several processes may run
 * it at once. Throws if an applied file was edited, or if the database is newer than the files.
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
 * Distributes the tables over the servers of a Citus cluster: runs each pending step in its own transaction, and
 * reports it with the number of steps left. Several processes may run it at once; after an interruption the next run
 * continues.
 */
export async function distribute(db: Db, onStep: (step: DistributionStep, left: number) => void): Promise<void> {
  while (await db.tx((tx) => runNextStep(tx, onStep)));
}

/** Runs the next step. Returns false if none is left. */
async function runNextStep(tx: Tx, onStep: (step: DistributionStep, left: number) => void): Promise<boolean> {
  await lockMigrations(tx)
  const [step, ...rest] = await readPlan(tx)
  if (step === undefined) return false
  onStep(step, rest.length)
  await runStep(tx, step)
  return true
}

/** Throws unless the migration files start with these migrations. Otherwise they come from another version. */
export async function checkMigrations(applied: readonly Omit<Migration, 'text'>[]): Promise<void> {
  refuseDifferences([...applied], await readMigrations(ownMigrations))
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(files.map((file, index) => readMigration(folder, file, index + 1)))
}

async function readMigration(folder: string, file: string, expected: number): Promise<Migration> {
  const number = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1])
  if (number !== expected) {
    const expectedNumber = String(expected).padStart(4, '0')
    throw new Error(
      `Migrations are numbered without gaps or repeats: expected ${expectedNumber}-name.sql, found ${file}`,
    )
  }
  // A checkout on Windows may have changed the line endings, which is not an edit.
  const text = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n')
  return { number, name: file.slice(0, -4), text, checksum: createHash('sha256').update(text).digest('hex') }
}

/** Runs one migration in one transaction. A process that waited for the lock then sees what the others applied. */
async function applyNext(tx: Tx, migrations: Migration[]): Promise<string | undefined> {
  await lockMigrations(tx)
  const applied = await readApplied(tx)
  await refuseUnfinished(tx)
  refuseDifferences(applied, migrations)
  const next = migrations[applied.length]
  if (next === undefined) return undefined

  try {
    await runMigration(tx, next.text)
  } catch (error) {
    throw new Error(`Migration ${next.name} failed and was rolled back`, { cause: error })
  }
  await tx`
    insert into migrations (number, name, checksum, applied_at)
    values (${next.number}, ${next.name}, ${next.checksum}, now())`
  return next.name
}

/** Locks out other migrations until the end of the transaction. */
async function lockMigrations(tx: Tx): Promise<void> {
  await setStatementTimeout(tx, migrationTimeoutMs)
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

/** Throws during a move, whose next run would delete new rows, or a distribution, which suspends foreign keys. */
async function refuseUnfinished(tx: Tx): Promise<void> {
  const rows = await tx`select where obj_description('migrations'::regclass, 'pg_class') = ${unfinishedMove}`
  if (rows.length > 0) throw new Error(`${unfinishedMove}: run parley move again, from the source of the data.`)
  if (await isDistributing(tx)) {
    throw new Error('The distribution of tables over servers is not finished: run parley distribute to continue it.')
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
 * Runs a migration's script. On a Citus cluster it runs on all servers, and new tables are placed by the usual rule.
 */
async function runMigration(tx: Tx, script: string): Promise<void> {
  if (!(await hasDistributedTables(tx))) {
    await tx.unsafe(script)
    return
  }
  // Sequentially: a transaction can't read its own parallel changes to several shards.
  await tx`set local citus.multi_shard_modify_mode = 'sequential'`
  for (const statement of splitStatements(script)) {
    // A new table starts as local, and a local table can't reference a distributed one. Without propagation it can.
    if (createsTable(statement)) await withoutPropagation(tx, () => tx.unsafe(statement))
    else await tx.unsafe(statement)
  }
  for (let [step] = await readPlan(tx); step !== undefined; [step] = await readPlan(tx)) {
    const next = step
    if (next.kind === 'take keys away') await withoutPropagation(tx, () => runStep(tx, next))
    else await runStep(tx, next)
  }
}

async function hasDistributedTables(tx: Tx): Promise<boolean> {
  return (await hasCitus(tx)) && (await readTables(tx, [])).some(({ kind }) => kind === 'spread')
}

/** Runs `work` without Citus propagation: on this server only, and unchecked. */
async function withoutPropagation(tx: Tx, work: () => Promise<unknown> | PromiseLike<unknown>): Promise<void> {
  await tx`set local citus.enable_ddl_propagation = off`
  await work()
  await tx`set local citus.enable_ddl_propagation = on`
}

interface ScriptPiece {
  kind: 'words' | 'quoted' | 'comment' | 'end'
  text: string
}

/** Start of a comment, string, quoted name or dollar-quoted text, and the end of a statement. */
const delimiter = /--|\/\*|'|"|\$\w*\$|;/g
const terminators: Record<string, string> = { '--': '\n', '/*': '*/' }

/** Splits a script into pieces. A doubled quote ends one piece and starts the next. */
function* splitScript(script: string): Generator<ScriptPiece> {
  let from = 0
  for (;;) {
    delimiter.lastIndex = from
    const found = delimiter.exec(script)
    if (found === null) break
    const { 0: opened, index } = found
    yield { kind: 'words', text: script.slice(from, index) }
    const end = terminators[opened] ?? opened
    const at = opened === ';' ? index : script.indexOf(end, index + opened.length)
    from = at === -1 ? script.length : at + end.length
    const kind = opened === ';' ? 'end' : opened in terminators ? 'comment' : 'quoted'
    yield { kind, text: script.slice(index, from) }
  }
  yield { kind: 'words', text: script.slice(from) }
}

/** Returns the statements of a script, without semicolons. */
export function splitStatements(script: string): string[] {
  const statements = ['']
  for (const { kind, text } of splitScript(script)) {
    if (kind === 'end') statements.push('')
    else statements.push(`${statements.pop()}${text}`)
  }
  return statements.map((statement) => statement.trim()).filter((statement) => withoutComments(statement) !== '')
}

/** Returns true if the statement creates a table; a partition belongs to its parent. */
export function createsTable(statement: string): boolean {
  const words = withoutComments(statement)
  return /^create (?:unlogged )?table\b/i.test(words) && !/\bpartition of\b/i.test(words)
}

const withoutComments = (statement: string) =>
  [...splitScript(statement)]
    .map(({ kind, text }) => (kind === 'comment' ? '' : text))
    .join('')
    .trim()
