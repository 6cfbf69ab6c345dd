import { Worker } from 'node:worker_threads'
import { type Repeat, repeatAfterPause } from '../../../base/async/loop.ts'
import type { Clock } from '../../../base/clock.ts'
import type { DbOptions, Sql } from '../../../base/db.ts'
import type { MasterKeys } from '../../../base/encryption/key-store.ts'
import type { Log } from '../../../base/log.ts'
import { isTimeOrder, type PageQuery, type PageResult } from '../list-filter.ts'
import type { IndexAnswer, MemoryIndexLimits } from './index-cache.ts'
import { defaultShape, type IndexShape } from './memory-index.ts'
import type { IndexContents } from './segment.ts'

/** Answers lists of large workspaces from memory. Callers fall back to the database. */
export interface MemoryIndexes {
  /** Returns the page, or null if no index contains everything committed before the call. */
  find(workspaceId: string, query: PageQuery): Promise<PageResult | null>
  /** Returns true if the index for any order and column is being built. */
  isLoading(workspaceId: string): boolean
  /**
   * Builds an index unless the workspace is too small or too large; resolves to whether one exists. If texts do not
   * fit, builds an index of columns only.
   */
  warm(workspaceId: string, contents?: IndexContents): Promise<boolean>
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
const minSortedLeads = 2_000
const idleMs = 600_000
const tidyMs = 60_000
// Interval for checking again whether a workspace without an index needs one.
const retryMs = 30_000
const maxWorkspaces = 10_000

export function openMemoryIndexes(options: MemoryIndexOptions): MemoryIndexes {
  const { clock, log, maxBytes, minLeads = 20_000, shape = defaultShape, repeat = repeatAfterPause } = options
  // Statement hooks of the main thread do not work in another thread.
  const { onStatement: _, ...db } = options.db
  const worker = openSearchWorker(
    { db, masterKeys: options.masterKeys, limits: { maxBytes, idleMs, minSearched: minLeads, shape } },
    { clock, log, startThread: options.startThread },
  )
  /** Recently requested indexes: whether they exist or are being built, and when this was checked. */
  const knownIndexes = new Map<string, { exists: boolean; isBuilding: boolean; checkedAtMs: number }>()
  const indexKey = (workspaceId: string, contents: IndexContents) => `${workspaceId} ${contents}`

  const remember = (key: string, exists: boolean, isBuilding = false) => {
    if (knownIndexes.size >= maxWorkspaces) knownIndexes.clear()
    knownIndexes.set(key, { exists, isBuilding, checkedAtMs: clock.now().getTime() })
  }
  const warmColumns = async (workspaceId: string): Promise<boolean> => {
    const { exists } = await worker.ask({ kind: 'warm', workspaceId, contents: 'columns' })
    remember(indexKey(workspaceId, 'columns'), exists)
    return exists
  }
  const warm = async (workspaceId: string, contents: IndexContents = 'text'): Promise<boolean> => {
    const key = indexKey(workspaceId, contents)
    remember(key, false, true)
    const minimum = contents === 'text' ? minLeads : Math.min(minLeads, minSortedLeads)
    const isLargeEnough = await hasLeads(options.sql, workspaceId, minimum)
    const exists = isLargeEnough && (await worker.ask({ kind: 'warm', workspaceId, contents })).exists
    const hasColumns = isLargeEnough && !exists && contents === 'text' && (await warmColumns(workspaceId))
    remember(key, exists)
    return exists || hasColumns
  }
  const find = async (workspaceId: string, query: PageQuery): Promise<PageResult | null> => {
    const contents = contentsFor(workspaceId, query)
    const key = indexKey(workspaceId, contents)
    const entry = knownIndexes.get(key)
    if (entry?.exists) {
      const { answer, exists } = await worker.ask({ kind: 'find', workspaceId, contents, query })
      if (!exists) remember(key, false)
      return answer
    }
    const age = entry === undefined ? retryMs : clock.now().getTime() - entry.checkedAtMs
    if (!entry?.isBuilding && (age >= retryMs || age < 0)) {
      warm(workspaceId, contents).catch((error: unknown) => {
        remember(key, false)
        log.warn('search index not built; searching in the database', { workspaceId }, error)
      })
    }
    return null
  }
  /** Returns the kind of index for a request: columns if there is neither a search term nor an index of texts. */
  const contentsFor = (workspaceId: string, { term, sortOrder, conditions }: PageQuery): IndexContents => {
    if (!isTimeOrder(sortOrder) || conditions.list.length > 0) return 'values'
    const exists = (contents: IndexContents) => knownIndexes.get(indexKey(workspaceId, contents))?.exists === true
    return term === null && !exists('text') && exists('columns') ? 'columns' : 'text'
  }
  const ignore = () => {}
  const loop = repeat(tidyMs, async () => worker.tidy(), ignore)

  return {
    warm,
    find,
    isLoading: (workspaceId) => knownIndexes.get(indexKey(workspaceId, 'values'))?.isBuilding ?? false,
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

const noAnswer: IndexAnswer = { answer: null, exists: false }
// Wait after a worker died before starting another.
const restartDelayMs = 30_000

/**
 * Starts the worker with the first index, since installations without large workspaces need none. Ends it when no index
 * is left: only then is its memory returned to the system.
 */
function openSearchWorker(
  settings: SearchWorkerSettings,
  { clock, log, startThread = startWorker }: Pick<MemoryIndexOptions, 'clock' | 'log' | 'startThread'>,
) {
  const pending = new Map<number, (indexAnswer: IndexAnswer) => void>()
  /** Workers that have not ended, with promises of their end. */
  const runningWorkers = new Map<Worker, Promise<void>>()
  let worker: Worker | null = null
  let diedAtMs = Number.NEGATIVE_INFINITY
  let isClosed = false
  let lastNumber = 0

  const handleReply = (reply: WorkerReply) => {
    const { workspaceId } = { workspaceId: '', ...reply }
    if (reply.kind === 'built') log.info('search index built', { workspaceId, durationMs: reply.ms })
    if (reply.kind === 'trouble') log.warn('evicting search index after an error', { workspaceId, code: reply.code })
    if (reply.kind === 'empty' && pending.size === 0) retire()
    if (reply.kind !== 'answer') return
    pending.get(reply.number)?.(reply)
    pending.delete(reply.number)
  }
  const start = (): Worker => {
    const started = startThread(settings)
    // Does not keep the process running.
    started.unref()
    started.on('message', handleReply)
    started.on('error', (error) => log.warn('search index worker failed; restarting it when needed', {}, error))
    const ended = new Promise<void>((resolve) => started.once('exit', () => resolve()))
    runningWorkers.set(started, ended)
    ended.then(() => {
      runningWorkers.delete(started)
      if (worker !== started) return
      worker = null
      diedAtMs = clock.now().getTime()
      for (const settle of pending.values()) settle(noAnswer)
      pending.clear()
    })
    return started
  }
  const retire = () => {
    postToWorker({ kind: 'stop' })
    worker = null
  }
  const postToWorker = (message: WorkerMessage) => worker?.postMessage(message)

  return {
    /** Resolves to an empty answer if the worker is dead or dies. */
    ask: (request: IndexRequest): Promise<IndexAnswer> => {
      const nowMs = clock.now().getTime()
      if (isClosed || (worker === null && nowMs - diedAtMs < restartDelayMs)) return Promise.resolve(noAnswer)
      // A new worker has no index to search.
      if (worker === null && request.kind !== 'warm') return Promise.resolve(noAnswer)
      worker ??= start()
      return new Promise((resolve) => {
        const number = ++lastNumber
        pending.set(number, resolve)
        postToWorker({ ...request, number, nowMs })
      })
    },
    tidy: () => postToWorker({ kind: 'tidy', nowMs: clock.now().getTime() }),
    useMasterKey: (masterKey: Buffer) => {
      const { current, previous = [] } = settings.masterKeys
      settings.masterKeys = { current: masterKey, previous: [current, ...previous] }
      postToWorker({ kind: 'use-master-key', masterKey })
    },
    close: async () => {
      isClosed = true
      for (const one of runningWorkers.keys()) one.ref()
      postToWorker({ kind: 'stop' })
      await Promise.all(runningWorkers.values())
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

type IndexRequest =
  | { kind: 'find'; workspaceId: string; contents: IndexContents; query: PageQuery }
  | { kind: 'warm'; workspaceId: string; contents: IndexContents }

/** `nowMs` is the time of the service's clock, which may differ from the system clock. */
export type WorkerMessage =
  | (IndexRequest & { number: number; nowMs: number })
  | { kind: 'tidy'; nowMs: number }
  | { kind: 'use-master-key'; masterKey: Uint8Array }
  | { kind: 'stop' }

export type WorkerReply =
  /** `answer` is null if the index cannot answer; `exists` tells whether an index exists to ask again. */
  | ({ kind: 'answer'; number: number } & IndexAnswer)
  | { kind: 'built'; workspaceId: string; ms: number }
  | { kind: 'trouble'; workspaceId: string; code: string }
  /** Sent after a `tidy` that left no index. */
  | { kind: 'empty' }
