import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manualClock, systemClock } from '../../../server/src/base/clock.ts'
import { type Db, openDb } from '../../../server/src/base/db.ts'
import { startEmbeddedPostgres } from '../../../server/src/base/embedded/embedded-postgres.ts'
import { migrate } from '../../../server/src/base/migrate.ts'
import { rebuildSparseIndexes } from '../../../server/src/base/rebuild-indexes.ts'
import { writeHistory } from './row-history.ts'

/** Tables of one lead, conversation and message; events are not among them. */
const tablesOf = {
  lead: ['leads', 'lead_search'],
  conversation: ['conversations', 'moving_conversations', 'conversation_search'],
  message: ['messages', 'message_search'],
  'sent message': ['sends', 'message_parts'],
} as const

/** Prints the bytes of a lead, a conversation and a message after a history, in one workspace and in several. */
export async function runRowSizes(rows: number): Promise<void> {
  for (const workspaces of [1, 20]) {
    const folder = await mkdtemp(join(tmpdir(), 'parley-rows-'))
    const postgres = await startEmbeddedPostgres({
      folder,
      log: () => {},
      settings: { autovacuum: 'off', fsync: 'off' },
    })
    const db = openDb(postgres)
    try {
      await migrate(db)
      await writeHistory(db, manualClock(systemClock.now()), { workspaces, rows })
      console.log(`\n${rows} leads and conversations in ${workspaces} workspaces, bytes of one`)
      await printRowSizes(db)
      console.log(`\nthe same after ${await rebuildSparseIndexes(db)} indexes were rebuilt`)
      await printRowSizes(db)
    } finally {
      await db.close()
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export async function printRowSizes(db: Db): Promise<void> {
  for (const [what, tables] of Object.entries(tablesOf)) {
    let total = 0
    for (const table of tables) total += await printTable(db, what, table)
    console.log(`**${what}: ${Math.round(total)}**`)
  }
}

let perRow = 1

/** Prints a table with its columns and indexes, and returns the bytes of a row. */
async function printTable(db: Db, what: string, table: string): Promise<number> {
  const [size] = await db.sql.unsafe<{ rows: number; heap: number; toast: number; live: number; all: number }[]>(`
    select count(*)::float8 as rows, sum(pg_column_size(t.*))::float8 as live,
      pg_relation_size('${table}')::float8 as heap, pg_total_relation_size('${table}')::float8 as all,
      (pg_table_size('${table}') - pg_relation_size('${table}'))::float8 as toast
    from ${table} t`)
  if (size === undefined) return 0
  if (table === tablesOf[what as keyof typeof tablesOf][0]) perRow = size.rows
  const each = (bytes: number) => Math.round(bytes / perRow)
  const columns = await db.sql<{ name: string }[]>`
    select quote_ident(attname) as name from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped order by attnum`
  const [bytes = {}] = await db.sql.unsafe<Record<string, number | null>[]>(`
    select ${columns.map(({ name }) => `coalesce(sum(pg_column_size(t.${name})), 0)::float8 as ${name}`)} from ${table} t`)
  const indexes = await db.sql<{ name: string; bytes: number }[]>`
    select indexrelid::regclass::text as name, pg_relation_size(indexrelid)::float8 as bytes
    from pg_index where indrelid = ${table}::regclass order by 2 desc`
  const list = (entries: [string, number][]) =>
    entries
      .filter(([, b]) => each(b) > 0)
      .map(([n, b]) => `${n} ${each(b)}`)
      .join(', ')
  console.log(
    `- ${table} ${each(size.all)} = rows ${each(size.heap)} (of it ${each(size.heap - size.live)} free or dead), TOAST and maps ${each(size.toast)}, indexes ${each(size.all - size.heap - size.toast)}`,
  )
  console.log(`  - ${list(Object.entries(bytes).map(([n, b]) => [n, b ?? 0]))}`)
  console.log(`  - ${list(indexes.map(({ name, bytes }) => [name, bytes]))}`)
  return size.all / perRow
}
