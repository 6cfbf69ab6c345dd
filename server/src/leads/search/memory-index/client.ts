import type { Worker } from 'node:worker_threads'
import { type Repeat, repeatAtPauses } from '../../../base/async/loop.ts'
import type { Clock } from '../../../base/clock.ts'
import type { DbOptions, Sql } from '../../../base/db.ts'
import type { Log } from '../../../base/log.ts'
import type { MasterKeys } from '../../../base/sealing/vault.ts'
import type { ArrangedAnswer, ArrangedQuery } from './arranged-query.ts'
import { type IndexShape, usualShape } from './memory-index.ts'
import type { SearchWorkerSettings, Timely } from './messages.ts'
import type { IndexAnswer, IndexQuery } from './query.ts'
import { openSearchWorker } from './search-worker-client.ts'
import type { Held } from './segment.ts'

/** Lists of large workspaces from memory. What it does not answer, the database does. */
export interface MemoryIndexes {
  /** The answer, or null when there is no index that is up to all that was committed before the call. */
  find(workspaceId: string, query: IndexQuery): Promise<IndexAnswer | null>
  /** The same for a list in any order, or narrowed by any column, which another index answers. */
  arrange(workspaceId: string, query: ArrangedQuery): Promise<ArrangedAnswer | null>
  /** Whether that index is being built, and an answer to be expected. */
  isArranging(workspaceId: string): boolean
  /**
   * Whether there is an index now: it is built unless the workspace is too small or too large for one. Where texts do not fit, one
   * of columns alone is.
   */
  warm(workspaceId: string, holds?: Held): Promise<boolean>
  /** A new master key wraps the secrets from now on; call it before the first is wrapped. */
  useMasterKey(masterKey: Buffer): void
  close(): Promise<void>
}

export interface MemoryIndexOptions {
  sql: Sql
  clock: Clock
  log: Log
  /** Where the worker finds the database, and the keys to what is in there. */
  db: DbOptions
  masterKeys: MasterKeys
  maxBytes: number
  /** Smaller workspaces need no index: the database counts them in a few milliseconds. */
  minLeads?: number
  shape?: IndexShape
  startThread?: (settings: SearchWorkerSettings) => Worker
  repeat?: Repeat
}

/** Fewer leads are opened for each page in no time. */
const minArranged = 2_000
const idleMs = 600_000
const tidyMs = 60_000
/** How often a workspace without an index is looked at again. */
const againMs = 30_000
const maxWorkspaces = 10_000

export function openMemoryIndexes(options: MemoryIndexOptions): MemoryIndexes {
  const { clock, log, maxBytes, minLeads = 20_000, shape = usualShape, repeat = repeatAtPauses } = options
  // What watches the statements of the main thread cannot watch those of another.
  const { onStatement: _, ...db } = options.db
  const worker = openSearchWorker(
    { db, masterKeys: options.masterKeys, limits: { maxBytes, idleMs, minSearched: minLeads, shape } },
    { clock, log, startThread: options.startThread },
  )
  /** Workspaces lately asked for: whether there is an index, whether it is being built, and when that was looked at. */
  const known = new Map<string, { exists: boolean; isComing: boolean; lookedAtMs: number }>()
  const keyTo = (workspaceId: string, holds: Held) => `${workspaceId} ${holds}`

  const note = (key: string, exists: boolean, isComing = false) => {
    if (known.size >= maxWorkspaces) known.clear()
    known.set(key, { exists, isComing, lookedAtMs: clock.now().getTime() })
  }
  const warmColumns = async (workspaceId: string): Promise<boolean> => {
    const { exists } = await worker.ask({ kind: 'warm', workspaceId, holds: 'columns' })
    note(keyTo(workspaceId, 'columns'), exists)
    return exists
  }
  const warm = async (workspaceId: string, holds: Held = 'text'): Promise<boolean> => {
    const key = keyTo(workspaceId, holds)
    note(key, false, true)
    const least = holds === 'text' ? minLeads : Math.min(minLeads, minArranged)
    const isWorth = await hasLeads(options.sql, workspaceId, least)
    const exists = isWorth && (await worker.ask({ kind: 'warm', workspaceId, holds })).exists
    const isListed = isWorth && !exists && holds === 'text' && (await warmColumns(workspaceId))
    note(key, exists)
    return exists || isListed
  }
  const ask = async <A>(
    workspaceId: string,
    holds: Held,
    request: Parameters<typeof worker.ask>[0],
  ): Promise<A | null> => {
    const key = keyTo(workspaceId, holds)
    const entry = known.get(key)
    if (entry?.exists) {
      const { answer, exists } = await worker.ask(request)
      if (!exists) note(key, false)
      return answer as A | null
    }
    const age = entry === undefined ? againMs : clock.now().getTime() - entry.lookedAtMs
    if (!entry?.isComing && (age >= againMs || age < 0)) {
      warm(workspaceId, holds).catch((error: unknown) => {
        note(key, false)
        log.warn('a memory index of leads is not built', { workspaceId }, error)
      })
    }
    return null
  }
  /** Columns alone answer what is not searched for, where there is no more. */
  const timelyOf = (workspaceId: string, { term }: IndexQuery): Timely => {
    const exists = (holds: Held) => known.get(keyTo(workspaceId, holds))?.exists === true
    return term === null && !exists('text') && exists('columns') ? 'columns' : 'text'
  }
  const loop = repeat(
    tidyMs,
    async () => worker.tidy(),
    () => {},
  )

  return {
    warm,
    find: (workspaceId, query) => {
      const holds = timelyOf(workspaceId, query)
      return ask<IndexAnswer>(workspaceId, holds, { kind: 'find', workspaceId, holds, query })
    },
    arrange: (workspaceId, query) =>
      ask<ArrangedAnswer>(workspaceId, 'values', { kind: 'arrange', workspaceId, query }),
    isArranging: (workspaceId) => known.get(keyTo(workspaceId, 'values'))?.isComing ?? false,
    useMasterKey: worker.useMasterKey,
    close: async () => {
      await loop.stop()
      await worker.close()
    },
  }
}

async function hasLeads(sql: Sql, workspaceId: string, count: number): Promise<boolean> {
  if (count === 0) return true
  const rows = await sql`
    select 1
    from leads
    where workspace_id = ${workspaceId}
      and deleted_at is null
    order by created_at desc, id desc
    offset ${count - 1}
    limit 1`
  return rows.length > 0
}
