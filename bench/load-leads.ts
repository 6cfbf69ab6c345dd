import { Worker } from 'node:worker_threads'
import { Client } from 'pg'
import { type Db, setStatementTimeout } from '../server/src/base/db.ts'
import { baselineTables } from './baselines/baseline-tables.ts'
import type { Database } from './database-address.ts'
import type { LoadShare } from './load-thread.ts'
import { type BenchWorkspace, makeWorkspace } from './workspace.ts'

const threads = 2

/** Returns the workspace with this many leads: the one of an earlier run in this database, or a new one. */
export async function loadWorkspace(
  db: Db,
  options: Database,
  count: number,
  state: 'vacuumed' | 'raw' = 'vacuumed',
): Promise<BenchWorkspace> {
  await db.sql`
    create table if not exists bench_loads (leads integer primary key, workspace jsonb not null, is_changed boolean)`
  const [kept] = await db.sql<{ workspace: BenchWorkspace; is_changed: boolean | null }[]>`
    select workspace, is_changed from bench_loads where leads = ${count}`
  if (kept?.is_changed) throw new Error('A part that writes has changed the leads in this folder. Use another one')
  if (kept !== undefined) return kept.workspace
  const workspace = await makeWorkspace(db)
  await loadLeads(db, options, workspace.workspaceId, count)
  if (state === 'vacuumed') await vacuum(options, ['floor_leads', 'leads', 'lead_search'])
  await db.sql`insert into bench_loads values (${count}, ${db.sql.json({ ...workspace })})`
  return workspace
}

/** Records that the leads differ from the loaded ones. */
export async function markChanged(db: Db): Promise<void> {
  await db.sql`update bench_loads set is_changed = true`
}

/** Fills a workspace with leads, and the baseline's table with the same as plain text. Takes minutes for a million. */
async function loadLeads(db: Db, options: Database, workspaceId: string, count: number): Promise<void> {
  await db.sql.unsafe(baselineTables)
  await db.sql`alter table floor_leads add haystack text not null default ''`
  await db.sql`create extension if not exists pg_trgm`
  // Building indexes is faster than updating them.
  const indexes = await db.sql<{ indexname: string; indexdef: string }[]>`
    select indexname, indexdef
    from pg_indexes
    where tablename in ('leads', 'lead_search', 'floor_leads')
      and indexname not like '%_pkey'`
  for (const { indexname } of indexes) await db.sql.unsafe(`drop index ${indexname}`)
  let done = 0
  await Promise.all(
    Array.from({ length: threads }, (_, thread) =>
      runShare({ db: options, workspaceId, count, thread, threads }, (more) => {
        done += more
        if (process.stderr.isTTY || done % 100_000 === 0) process.stderr.write(`\rfilling ${done} of ${count} leads`)
      }),
    ),
  )
  process.stderr.write('\nmaking indexes\n')
  await db.tx(async (tx) => {
    await setStatementTimeout(tx, 3_600_000)
    await tx`set local maintenance_work_mem = '1GB'`
    for (const { indexdef } of indexes) await tx.unsafe(indexdef)
    await tx`create index on floor_leads (workspace_id, created_at desc, id desc) where deleted_at is null`
    await tx`create index on floor_leads (workspace_id, updated_at desc, id desc) where deleted_at is null`
    await tx`create index on floor_leads using gin (haystack gin_trgm_ops)`
  })
}

/** Runs on its own connection, without the statement timeout. */
export async function vacuum({ socketFolder, ...database }: Database, tables: readonly string[]): Promise<void> {
  const client = new Client({ ...database, host: socketFolder })
  await client.connect()
  for (const table of tables) await client.query(`vacuum analyze ${table}`)
  await client.end()
}

function runShare(workerData: LoadShare, onProgress: (more: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./load-thread.ts', import.meta.url), { workerData })
    worker.on('message', onProgress)
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}
