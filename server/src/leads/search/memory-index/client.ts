import { Worker } from 'node:worker_threads'
import { type Repeat, repeatAfterPause } from '../../../base/async/loop.ts'
import type { Clock } from '../../../base/clock.ts'
import type { DbOptions, Sql } from '../../../base/db.ts'
import type { MasterKeys } from '../../../base/encryption/key-store.ts'
import type { Log } from '../../../base/log.ts'
import { type Found, isTimely, type Wanted } from '../list-filter.ts'
import type { Answered, MemoryIndexLimits } from './index-cache.ts'
import { type IndexShape, usualShape } from './memory-index.ts'
import type { Held } from './segment.ts'

/** Answers lists of large workspaces from memory. Callers fall back to the database. */
export interface MemoryIndexes {
  /** Returns the page, or null if no index contains everything committed before the call. */
  find(workspaceId: string, wanted: Wanted): Promise<Found | null>
  /** Returns true if the index for any order and column is being built. */
  isArranging(workspaceId: string): boolean
  /**
   * Builds an index unless the workspace is too small or too large; resolves to whether one exists. If texts do not
   * fit, builds an index of columns only.
   */
  warm(workspaceId: string, holds?: Held): Promise<boolean>
  /** Adds a new master key. Call it before the first secret is wrapped with it. */
  useMasterKey(masterKey: Buffer): void
  close(): Promise<void>
}

export interface MemoryIndexOptions {
  sql: Sql
  clock: Clock
  log: Log
  /** Database connection and master keys for the worker. */
  db: DbOptions
  masterKeys: MasterKeys
  maxBytes: number
  /** Minimum number of leads for an index: the database counts fewer in a few milliseconds. */
  minLeads?: number
  shape?: IndexShape
  startThread?: (settings: SearchWorkerSettings) => Worker
  repeat?: Repeat
}

// Fewer leads are decrypted for each page fast enough.
const minArranged = 2_000
const idleMs = 600_000
const tidyMs = 60_000
// Interval for checking again whether a workspace without an index needs one.
const againMs = 30_000
const maxWorkspaces = 10_000

export function openMemoryIndexes(options: MemoryIndexOptions): MemoryIndexes {
  const { clock, log, maxBytes, minLeads = 20_000, shape = usualShape, repeat = repeatAfterPause } = options
  // Statement hooks of the main thread do not work in another thread.
  const { onStatement: _, ...db } = options.db
  const worker = openSearchWorker(
    { db, masterKeys: options.masterKeys, limits: { maxBytes, idleMs, minSearched: minLeads, shape } },
    { clock, log, startThread: options.startThread },
  )
  /** Recently requested indexes: whether they exist or are being built, and when this was checked. */
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
  const find = async (workspaceId: string, wanted: Wanted): Promise<Found | null> => {
    const holds = holdsFor(workspaceId, wanted)
    const key = keyTo(workspaceId, holds)
    const entry = known.get(key)
    if (entry?.exists) {
      const { answer, exists } = await worker.ask({ kind: 'find', workspaceId, holds, wanted })
      if (!exists) note(key, false)
      return answer
    }
    const age = entry === undefined ? againMs : clock.now().getTime() - entry.lookedAtMs
    if (!entry?.isComing && (age >= againMs || age < 0)) {
      warm(workspaceId, holds).catch((error: unknown) => {
        note(key, false)
        log.warn('search index not built; searching in the database', { workspaceId }, error)
      })
    }
    return null
  }
  /** Returns the kind of index for a request: columns if there is neither a search term nor an index of texts. */
  const holdsFor = (workspaceId: string, { term, arrangement, conditions }: Wanted): Held => {
    if (!isTimely(arrangement) || conditions.list.length > 0) return 'values'
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
    find,
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

const nothing: Answered = { answer: null, exists: false }
// Wait after a worker died before starting another.
const mourningMs = 30_000

/**
 * Starts the worker with the first index, since installations without large workspaces need none. Ends it when no index
 * is left: only then is its memory returned to the system.
 */
function openSearchWorker(
  settings: SearchWorkerSettings,
  { clock, log, startThread = startWorker }: Pick<MemoryIndexOptions, 'clock' | 'log' | 'startThread'>,
) {
  const waiting = new Map<number, (answered: Answered) => void>()
  /** Workers that have not ended, with promises of their end. */
  const alive = new Map<Worker, Promise<void>>()
  let worker: Worker | null = null
  let diedAtMs = Number.NEGATIVE_INFINITY
  let closed = false
  let last = 0

  const hear = (reply: Reply) => {
    const { workspaceId } = { workspaceId: '', ...reply }
    if (reply.kind === 'built') log.info('search index built', { workspaceId, durationMs: reply.ms })
    if (reply.kind === 'trouble') log.warn('evicting search index after an error', { workspaceId, code: reply.code })
    if (reply.kind === 'empty' && waiting.size === 0) retire()
    if (reply.kind !== 'answer') return
    waiting.get(reply.number)?.(reply)
    waiting.delete(reply.number)
  }
  const start = (): Worker => {
    const started = startThread(settings)
    // Does not keep the process running.
    started.unref()
    started.on('message', hear)
    started.on('error', (error) => log.warn('search index worker failed; restarting it when needed', {}, error))
    const ended = new Promise<void>((resolve) => started.once('exit', () => resolve()))
    alive.set(started, ended)
    ended.then(() => {
      alive.delete(started)
      if (worker !== started) return
      worker = null
      diedAtMs = clock.now().getTime()
      for (const settle of waiting.values()) settle(nothing)
      waiting.clear()
    })
    return started
  }
  const retire = () => {
    tell({ kind: 'stop' })
    worker = null
  }
  const tell = (question: Question) => worker?.postMessage(question)

  return {
    /** Resolves to an empty answer if the worker is dead or dies. */
    ask: (request: Request): Promise<Answered> => {
      const nowMs = clock.now().getTime()
      if (closed || (worker === null && nowMs - diedAtMs < mourningMs)) return Promise.resolve(nothing)
      // A new worker has no index to search.
      if (worker === null && request.kind !== 'warm') return Promise.resolve(nothing)
      worker ??= start()
      return new Promise((resolve) => {
        const number = ++last
        waiting.set(number, resolve)
        tell({ ...request, number, nowMs })
      })
    },
    tidy: () => tell({ kind: 'tidy', nowMs: clock.now().getTime() }),
    useMasterKey: (masterKey: Buffer) => {
      const { current, previous = [] } = settings.masterKeys
      settings.masterKeys = { current: masterKey, previous: [current, ...previous] }
      tell({ kind: 'use-master-key', masterKey })
    },
    close: async () => {
      closed = true
      for (const one of alive.keys()) one.ref()
      tell({ kind: 'stop' })
      await Promise.all(alive.values())
    },
  }
}

function startWorker(workerData: SearchWorkerSettings): Worker {
  // The indexes are outside the heap that this limits.
  const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 }
  return new Worker(new URL('./search-worker.ts', import.meta.url), {
    workerData,
    resourceLimits,
    name: 'memory indexes',
  })
}

export interface SearchWorkerSettings {
  db: DbOptions
  masterKeys: MasterKeys
  limits: MemoryIndexLimits
}

type Request =
  | { kind: 'find'; workspaceId: string; holds: Held; wanted: Wanted }
  | { kind: 'warm'; workspaceId: string; holds: Held }

/** `nowMs` is the time of the service's clock, which may differ from the system clock. */
export type Question =
  | (Request & { number: number; nowMs: number })
  | { kind: 'tidy'; nowMs: number }
  | { kind: 'use-master-key'; masterKey: Uint8Array }
  | { kind: 'stop' }

export type Reply =
  /** `answer` is null if the index cannot answer; `exists` tells whether an index exists to ask again. */
  | ({ kind: 'answer'; number: number } & Answered)
  | { kind: 'built'; workspaceId: string; ms: number }
  | { kind: 'trouble'; workspaceId: string; code: string }
  /** Sent after a `tidy` that left no index. */
  | { kind: 'empty' }
