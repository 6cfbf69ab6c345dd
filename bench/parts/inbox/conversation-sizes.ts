import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ManualClock, manualClock } from '../../../server/src/base/clock.ts'
import { type Db, openDb } from '../../../server/src/base/db.ts'
import { startEmbeddedPostgres } from '../../../server/src/base/embedded/embedded-postgres.ts'
import type { Keyring } from '../../../server/src/base/encryption/keyring.ts'
import { migrate } from '../../../server/src/base/migrate.ts'
import { reindexIdle } from '../../../server/src/inbox/conversation/activity-columns.ts'
import {
  lockByIds,
  lockConversationsOf,
  storeConversations,
} from '../../../server/src/inbox/conversation/batch-queries.ts'
import type { Conversation } from '../../../server/src/inbox/conversation/conversation.ts'
import { type CpuTime, type Process, startMeter } from '../../cpu-time.ts'
import { customerPhone, fillingOf, seedConnection } from '../../inbox-seed.ts'
import { makeWorkspace } from '../../workspace.ts'

/** Milliseconds between messages of a conversation: as fast as possible, as in a chat, and a quarter of an hour. */
const spacings = { storm: 2_000, chat: 20_000, apart: 900_000 } as const
type Spacing = keyof typeof spacings
const batchSize = 100
const minuteMs = 60_000
const told = [10, 100]

interface SizeRow {
  after: number
  table: number
  indexes: number
  all: number
  /** Percentage of updates that changed no index (HOT). */
  hot: number
  reindexed: number
}

/**
 * Prints the size of a conversation after this many messages, half inbound and half outbound, with each spacing. Uses
 * the statements of batched callbacks and sends, a hundred conversations at a time and without the messages themselves,
 * on a simulated clock. Vacuum is simulated as well, since hours pass in seconds: every simulated minute it processes
 * tables with enough changes. Processor time includes sequencing and vacuum.
 */
export async function runConversationSizes(conversations: number): Promise<void> {
  console.log(
    `\n| ${conversations} conversations | messages | bytes | table | indexes | HOT | reindexed | Node + PostgreSQL, µs a message |`,
  )
  console.log('|---|---|---|---|---|---|---|---|')
  const largest: string[] = []
  for (const spacing of Object.keys(spacings) as Spacing[]) {
    const folder = await mkdtemp(join(tmpdir(), 'parley-sizes-'))
    const postgres = await startEmbeddedPostgres({ folder, log: () => {}, settings: { autovacuum: 'off' } })
    const db = openDb(postgres)
    try {
      const measured = await measureSizes(db, postgres, spacing, conversations)
      for (const { after, all, table, indexes, hot, reindexed } of measured.rows) {
        const cells = [spacing, after, all, table, indexes, `${hot} %`, reindexed || '', cpuCell(measured.cpu)]
        console.log(`| ${cells.join(' | ')} |`)
      }
      largest.push(`${spacing}: ${measured.largest}`)
    } finally {
      await db.close()
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
  console.log(largest.join('\n'))
}

const cpuCell = (cpu: CpuTime | null) => (cpu === null ? '–' : `${Math.round(cpu.node)} + ${Math.round(cpu.postgres)}`)

async function measureSizes(db: Db, postgres: Process, spacing: Spacing, count: number) {
  await migrate(db)
  const workspace = await makeWorkspace(db)
  const filling = await fillingOf(db, workspace)
  const connection = await seedConnection(filling, workspace, 1, count)
  const { keyring, workspaceId } = filling
  const clock = manualClock(filling.now)
  const customers = connection.conversations.map((id, n) => ({ id, n, connectionId: connection.id }))
  const rows: SizeRow[] = []
  let largest = ''
  const meter = startMeter(process, postgres)
  let cpu: CpuTime | null = null
  const vacuum = await createSimulatedVacuum(db, clock, count)
  await db.sql`analyze`
  for (let message = 1; message <= Math.max(...told); message++) {
    // Shuffles the customers for each message.
    const shuffled = customers.toSorted((a, b) => hashOf(a.n, message) - hashOf(b.n, message))
    for (let at = 0; at < count; at += batchSize) {
      clock.advance((spacings[spacing] * batchSize) / count)
      const some = shuffled.slice(at, at + batchSize)
      if (message % 2 === 1) await writeIn(db, keyring, workspaceId, some, clock)
      else await writeOut(db, keyring, workspaceId, some, clock)
      await reindexIdle({ db, clock })
      await vacuum(some.length)
    }
    if (!told.includes(message)) continue
    const isLast = message === Math.max(...told)
    if (isLast) {
      clock.advance(3_600_000)
      await reindexIdle({ db, clock })
      cpu = meter(count * message)
    }
    const size = await sizeOf(db, count)
    largest = await indexSizes(db, count)
    rows.push({ after: message, ...size, reindexed: isLast ? await reindexed(db, count) : 0 })
  }
  return { rows, largest, cpu }
}

/** Vacuums as autovacuum does: at most once a minute, with its settings. */
async function createSimulatedVacuum(
  db: Db,
  clock: ManualClock,
  count: number,
): Promise<(changed: number) => Promise<void>> {
  const [row] = await db.sql<{ scale: number | null }[]>`
    select (select option_value::float8 from pg_options_to_table(c.reloptions)
      where option_name = 'autovacuum_vacuum_scale_factor') as scale
    from pg_class c
    where c.relname = 'conversations'`
  const enough = 50 + (row?.scale ?? 0.2) * count
  let [changes, looksAt] = [0, clock.now().getTime() + minuteMs]
  return async (changed) => {
    changes += changed
    if (changes < enough || clock.now().getTime() < looksAt) return
    for (const name of await tablesOf(db)) await db.sql.unsafe(`vacuum ${name}`)
    changes = 0
    looksAt = clock.now().getTime() + minuteMs
  }
}

async function tablesOf(db: Db): Promise<string[]> {
  const rows = await db.sql.unsafe<{ name: string }[]>(
    `select relname as name from pg_class where relname in (${tables})`,
  )
  return rows.map(({ name }) => name)
}

interface One {
  id: string
  n: number
  connectionId: string
}

const hashOf = (n: number, message: number): number => Math.imul(n * 2654435761 + message * 40503, 2246822519) >>> 0

async function writeIn(db: Db, keyring: Keyring, workspaceId: string, some: readonly One[], clock: ManualClock) {
  const now = clock.now()
  const customers = some.map(({ connectionId, n }) => ({
    connectionId,
    customer: { userId: null, parentUserId: null, phone: customerPhone(n), name: null },
  }))
  await db.tx(async (tx) => {
    const locked = await lockConversationsOf({ tx, keyring, workspaceId }, customers)
    const changes = locked.map((before) => ({
      before,
      after: { ...before, ...lastMessageFields('inbound', now), unreadCount: before.unreadCount + 1 },
    }))
    await storeConversations({ tx, keyring, workspaceId }, changes)
  })
}

async function writeOut(db: Db, keyring: Keyring, workspaceId: string, some: readonly One[], clock: ManualClock) {
  const now = clock.now()
  await db.tx(async (tx) => {
    const ids = some.map(({ id }) => id)
    const locked = await lockByIds({ tx, keyring, workspaceId }, ids)
    const changes = locked.map((before) => ({ before, after: { ...before, ...lastMessageFields('outbound', now) } }))
    await storeConversations({ tx, keyring, workspaceId }, changes)
  })
}

function lastMessageFields(direction: 'inbound' | 'outbound', at: Date): Partial<Conversation> {
  const lastMessage = { direction, kind: 'text', text: 'Hello, is the blue one still there? I could come by tomorrow.' }
  const waits = direction === 'inbound' ? { unansweredSince: at, windowExpiresAt: at } : { unansweredSince: null }
  return { lastMessage, lastMessageAt: at, updatedAt: at, ...waits }
}

const tables = `'conversations', 'moving_conversations'`

async function sizeOf(db: Db, count: number) {
  const [row] = await db.sql.unsafe<{ all: number; indexes: number; hot: number }[]>(`
    select sum(pg_total_relation_size(c.oid))::float8 as all,
      sum(pg_indexes_size(c.oid))::float8 as indexes,
      max(case c.relname when 'conversations' then 100 * s.n_tup_hot_upd / greatest(1, s.n_tup_upd) end)::float8 as hot
    from pg_class c
    join pg_stat_user_tables s on s.relid = c.oid
    where c.relname in (${tables})`)
  const each = (bytes: number) => Math.round(bytes / count)
  const { all = 0, indexes = 0, hot = 0 } = row ?? {}
  return { all: each(all), indexes: each(indexes), table: each(all - indexes), hot }
}

async function reindexed(db: Db, count: number): Promise<number> {
  await db.sql.unsafe('vacuum full conversations')
  return (await sizeOf(db, count)).all
}

async function indexSizes(db: Db, count: number): Promise<string> {
  const rows = await db.sql.unsafe<{ name: string; bytes: number }[]>(`
    select i.relname as name, pg_relation_size(i.oid)::float8 as bytes
    from pg_index x
    join pg_class i on i.oid = x.indexrelid
    join pg_class c on c.oid = x.indrelid
    where c.relname in (${tables})
    order by 2 desc`)
  return rows.map(({ name, bytes }) => `${name} ${Math.round(bytes / count)}`).join(', ')
}
