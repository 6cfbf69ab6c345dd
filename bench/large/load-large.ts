import { Worker } from 'node:worker_threads'
import type { Db } from '../../server/src/base/db.ts'
import { firstIdAt } from '../../server/src/base/id.ts'
import { epochSize } from '../../server/src/inbox/search/message-tokens.ts'
import { tokenRulesVersion } from '../../server/src/leads/lead/search-lines.ts'
import type { Database } from '../database-address.ts'
import { fillingOf, seedConnection } from '../inbox-seed.ts'
import { makeWorkspace } from '../workspace.ts'
import { withoutIndexes } from './indexes.ts'
import type { LargeShare } from './load-thread.ts'
import { type Job, lastPosition, type Tenant } from './tenant.ts'

export interface Size {
  leads: number
  conversations: number
  /** Messages per conversation. */
  each: number
}

const tables = [
  ...['leads', 'lead_search', 'events'],
  ...['conversations', 'conversation_search', 'messages', 'message_search', 'message_parts', 'sends'],
]
const threads = 4
const piece = 10_000
/** A number sends at most 70 messages a second; many numbers keep this limit from dominating the measurement. */
const connectionsOfLarge = 64
const large = 1_000

/**
 * Returns workspaces of these sizes as they would be after two years: existing ones of an earlier run in this database,
 * or new ones, filled by COPY before their indexes are created. Their rows can be decrypted.
 */
export async function loadTenants(db: Db, options: Database, sizes: readonly Size[]): Promise<Tenant[]> {
  await db.sql`create table if not exists bench_large (n integer primary key, tenant jsonb not null)`
  const kept = await db.sql<{ tenant: Tenant }[]>`select tenant from bench_large order by n`
  if (kept.length > 0) return kept.map(({ tenant }) => tenant)
  const tenants: Tenant[] = []
  for (const size of sizes) tenants.push(await makeTenant(db, size))
  await withoutIndexes(options, tables, {
    leads: () => fill(options, tenants, ['leads']),
    others: () => fill(options, tenants, ['conversations', 'messages']),
  })
  for (const tenant of tenants) await completeProgress(db, tenant)
  for (const [n, tenant] of tenants.entries()) {
    await db.sql`insert into bench_large (n, tenant) values (${n}, ${db.sql.json({ ...tenant })})`
  }
  return tenants
}

export async function makeTenant(db: Db, size: Size): Promise<Tenant> {
  const workspace = await makeWorkspace(db)
  const filling = await fillingOf(db, workspace)
  const count = size.conversations >= large ? connectionsOfLarge : Math.min(1, size.conversations)
  const connectionIds: string[] = []
  for (let n = 0; n < count; n++) connectionIds.push((await seedConnection(filling, workspace, 1, 0)).id)
  return { ...workspace, ...size, connectionIds, endMs: Date.now() }
}

async function fill(options: Database, tenants: readonly Tenant[], kinds: readonly Job['kind'][]): Promise<void> {
  let done = 0
  const startedAt = performance.now()
  const share = { db: options, tenants, tables, kinds, piece, threads }
  await Promise.all(
    Array.from({ length: threads }, (_, thread) =>
      runShare({ ...share, thread }, (more) => {
        const before = Math.floor(done * 100)
        done += more
        const seconds = Math.round((performance.now() - startedAt) / 1000)
        if (Math.floor(done * 100) > before)
          process.stderr.write(`${kinds[0]}: ${Math.floor(done * 100)} % in ${seconds} s\n`)
      }),
    ),
  )
}

function runShare(workerData: LargeShare, onProgress: (more: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./load-thread.ts', import.meta.url), { workerData })
    worker.on('message', onProgress)
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}

/** Sets the progress of feed and token indexing to complete. */
export async function completeProgress(db: Db, tenant: Tenant): Promise<void> {
  const { workspaceId, conversations, each, endMs } = tenant
  const position = lastPosition(tenant)
  const messages = conversations * each
  const end = new Date(endMs + each * 1000)
  await db.sql`
    insert into event_feeds (workspace_id, last_position)
    values (${workspaceId}, ${position})
    on conflict (workspace_id) do update set last_position = excluded.last_position`
  await db.sql`
    insert into lead_search_feeds (workspace_id, position, rules)
    values (${workspaceId}, ${position}, ${tokenRulesVersion})
    on conflict (workspace_id) do update set position = excluded.position, rules = excluded.rules`
  await db.sql`
    insert into inbox_search_progress (workspace_id, messages_to, epoch, in_epoch, conversations_to)
    values (
      ${workspaceId}, ${firstIdAt(end)}, ${Math.floor(messages / epochSize)}, ${messages % epochSize}, ${end}
    )
    on conflict do nothing`
}
