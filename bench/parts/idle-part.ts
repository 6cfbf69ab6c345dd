import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { systemClock } from '../../server/src/base/clock.ts'
import { type Db, setStatementTimeout, type Tx } from '../../server/src/base/db.ts'
import { tokenRulesVersion } from '../../server/src/leads/lead/search-lines.ts'
import { startMeter } from '../cpu-time.ts'
import type { Database } from '../database-address.ts'
import { benchMasterKey, makeWorkspace } from '../workspace.ts'

const main = join(import.meta.dirname, '../../server/src/main.ts')
/** Time for the one-time work of a started process. */
const settleMs = 20_000
const seedMs = 600_000
const seeded = [
  'workspaces',
  'api_keys',
  'connections',
  'conversations',
  'events',
  'event_feeds',
  'lead_search_feeds',
  'inbox_search_progress',
  'webhook_endpoints',
  'webhook_queues',
]

export interface IdleCourse {
  db: Db
  postgres: Database & { readonly pid: number }
  workspaces: number
  /** Number of workspaces with a webhook. */
  withWebhooks: number
  durationMs: number
}

/**
 * Prints the cost of idle nodes: processor time and statements. Measures one node with one workspace, then one node
 * with all, then two nodes.
 */
export async function runIdle({ db, postgres, workspaces, withWebhooks, durationMs }: IdleCourse): Promise<void> {
  const media = await mkdtemp(join(tmpdir(), 'parley-idle-media-'))
  const stage = { db, postgres, media, durationMs }
  try {
    await makeWorkspace(db)
    await measure(stage, { nodes: 1, what: 'one workspace, no webhook' })
    await db.tx((tx) => seed(tx, workspaces, withWebhooks))
    for (const table of seeded) await db.sql.unsafe(`vacuum analyze ${table}`)
    for (const nodes of [1, 2])
      await measure(stage, { nodes, what: `${workspaces} workspaces, ${withWebhooks} webhooks` })
  } finally {
    await rm(media, { recursive: true, force: true })
  }
}

interface Stage extends Pick<IdleCourse, 'db' | 'postgres' | 'durationMs'> {
  /** Media folder shared by all nodes. */
  media: string
}

async function measure(
  { db, postgres, media, durationMs }: Stage,
  { nodes, what }: { nodes: number; what: string },
): Promise<void> {
  const seesStatements = await hasStatements(db)
  await using started = await startNodes(postgres, media, nodes)
  await setTimeout(Math.min(settleMs, durationMs))
  if (seesStatements) await db.sql`select pg_stat_statements_reset()`
  const before = await commitsOf(db)
  const meter = startMeter(started.first, postgres)
  await setTimeout(durationMs)
  const cpu = meter(1)
  const seconds = durationMs / 1000
  const commits = (await commitsOf(db)) - before

  const share = (us: number) => `${((us / durationMs / 1000) * 100).toFixed(2)} %`
  console.log(`\n| idle for ${seconds} s: ${nodes === 1 ? 'one node' : `${nodes} nodes`}, ${what} | |\n|---|---|`)
  console.log(`| Node (one of them), CPU of a core | ${cpu === null ? '' : share(cpu.node)} |`)
  console.log(`| PostgreSQL, CPU of a core | ${cpu === null ? '' : share(cpu.postgres)} |`)
  console.log(`| transactions per second | ${(commits / seconds).toFixed(1)} |`)
  if (seesStatements) await printStatements(db, seconds)
}

/** Starts services as an operator does, on this database and one media folder. */
async function startNodes(postgres: Database, media: string, count: number) {
  const nodes: Awaited<ReturnType<typeof startNode>>[] = []
  const stop = async () => {
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
  }
  try {
    for (let n = 0; n < count; n++) nodes.push(await startNode(postgres, media))
  } catch (error) {
    await stop()
    throw error
  }
  const [first] = nodes
  if (first === undefined) throw new Error('No node was started')
  return { first, [Symbol.asyncDispose]: stop }
}

async function seed(tx: Tx, workspaces: number, withWebhooks: number): Promise<void> {
  // Takes longer than the statement timeout on a busy machine.
  await setStatementTimeout(tx, seedMs)
  const now = systemClock.now()
  const bytes = randomBytes(200)
  await tx`
    insert into workspaces (id, name, agent_watchdog_minutes, created_at, updated_at)
    select gen_random_uuid(), 'Idle', case n % 10 when 0 then 10 end, ${now}, ${now}
    from generate_series(1, ${workspaces}::integer) n`
  await tx`
    insert into api_keys (
      workspace_id, id, name, key_hash, last_four, scopes, connection_ids, phone_visibility, allowlist, revoked_at, created_at
    )
    select id, gen_random_uuid(), 'Idle', sha256(uuid_send(gen_random_uuid())), 'idle', '{inbox.write}', '{}', 'full', '{}',
      case when random() < 0.1 then ${now}::timestamptz end, ${now}
    from workspaces`
  await tx`
    insert into connections (
      workspace_id, id, channel, name, number_id, settings, state, state_changed_at, templates_due_at, created_at, updated_at
    )
    select id, gen_random_uuid(), 'waba', 'Idle', id::text, ${bytes}, 'active', ${now}, ${now}::timestamptz + interval '1 day',
      ${now}, ${now}
    from workspaces`
  await tx`
    insert into conversations (
      workspace_id, id, connection_id, channel, contact, index_version, owner_key_id, owner_since, status, last_message_at,
      created_at, updated_at
    )
    select c.workspace_id, gen_random_uuid(), c.id, 'waba', ${bytes}, 1, case when k.revoked_at is null then k.id end, ${now},
      'open', ${now}, ${now}, ${now}
    from connections c
    join api_keys k using (workspace_id)
    cross join generate_series(1, 10)`
  await tx`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at, position)
    select id, gen_random_uuid(), 'seed', id, ${bytes}, ${now}, n
    from workspaces
    cross join generate_series(1, 10) n`
  await tx`insert into event_feeds (workspace_id, last_position) select id, 10 from workspaces`
  await tx`
    insert into lead_search_feeds (workspace_id, position, rules)
    select id, 10, ${tokenRulesVersion}
    from workspaces`
  // Marks their conversations as indexed for search by name.
  await tx`
    insert into inbox_search_progress (workspace_id, conversations_to, conversation_to)
    select id, ${now}, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
    from workspaces`
  await tx`
    insert into webhook_endpoints (
      workspace_id, id, events, phone_visibility, settings, state, state_changed_at, created_at, updated_at
    )
    select id, gen_random_uuid(), '{*}', 'full', ${bytes}, 'active', ${now}, ${now}, ${now}
    from workspaces
    limit ${withWebhooks}`
  await tx`
    insert into webhook_queues (workspace_id, endpoint_id, cursor)
    select workspace_id, id, 10
    from webhook_endpoints`
}

async function startNode({ socketFolder, database, user, password }: Database, media: string) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-idle-'))
  const login = `${user}:${encodeURIComponent(password)}`
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: `postgres://${login}@/${database}?host=${encodeURIComponent(socketFolder)}`,
    PARLEY_DATA_DIR: folder,
    PARLEY_MEDIA_URL: pathToFileURL(media).href,
    PARLEY_MASTER_KEY: benchMasterKey.toString('base64'),
    PARLEY_PORT: String(await freePort()),
    PARLEY_DRAIN_SECONDS: '0',
  }
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      if (text.includes('"listening"')) resolve()
    })
    void exited.then(() => reject(new Error('The service ended before it was ready')))
  })
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function commitsOf(db: Db): Promise<number> {
  const [row] = await db.sql<{ commits: number }[]>`
    select xact_commit::float8 as commits
    from pg_stat_database
    where datname = current_database()`
  return row?.commits ?? 0
}

/** Returns whether the server has pg_stat_statements: one started with `--postgres` does. */
async function hasStatements(db: Db): Promise<boolean> {
  const [row] = await db.sql<{ has: boolean }[]>`
    select current_setting('shared_preload_libraries') like '%pg_stat_statements%' as has`
  if (row?.has) await db.sql`create extension if not exists pg_stat_statements`
  return row?.has ?? false
}

async function printStatements(db: Db, seconds: number): Promise<void> {
  const rows = await db.sql<{ text: string; calls: number; ms: number; least: number }[]>`
    select left(regexp_replace(query, '\\s+', ' ', 'g'), 110) as text, calls::float8 as calls, total_exec_time as ms,
      min_exec_time as least
    from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
    order by total_exec_time desc`
  const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0)
  console.log(`| statements per second | ${(sum(({ calls }) => calls) / seconds).toFixed(1)} |`)
  console.log(`| database time, ms per second | ${(sum(({ ms }) => ms) / seconds).toFixed(2)} |`)
  // Other load on the machine makes some statements slower.
  console.log(
    `| the same with the shortest time of each | ${(sum(({ calls, least }) => calls * least) / seconds).toFixed(2)} |`,
  )
  console.log('\n| statement | per second | ms each | shortest | ms per second |\n|---|---|---|---|---|')
  for (const { text, calls, ms, least } of rows) {
    const cells = [calls / seconds, ms / calls, least, ms / seconds].map((figure) => figure.toFixed(3))
    console.log(`| ${text.replaceAll('|', '\\|')} | ${cells.join(' | ')} |`)
  }
}
