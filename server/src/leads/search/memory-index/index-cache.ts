import { singleFlight } from '../../../base/async/batch.ts'
import type { PageQuery, PageResult } from '../list-filter.ts'
import {
  catchUp,
  catchUpFully,
  countLive,
  type FollowDeps,
  type FollowedIndex,
  maxUnsequencedEvents,
  type Progress,
  readFeedState,
  readLive,
  sequenceAll,
} from './follow-feed.ts'
import type { IndexShape, MemoryIndex } from './memory-index.ts'
import { appendLead, compact, countLeads, memoryIndexBytes, newMemoryIndex } from './memory-index.ts'
import { queryMemoryIndex } from './query.ts'
import { clear, freeze, type IndexContents, isFull, newSegment } from './segment.ts'
import { querySortedIndex } from './sorted-query.ts'

/** A null answer means that the database must answer. `exists` tells whether it is worth asking the index again. */
export interface IndexAnswer<A = PageResult> {
  answer: A | null
  exists: boolean
}

export interface MemoryIndexLimits {
  /** Maximum size of all indexes together. */
  maxBytes: number
  /** Indexes unused for this long are dropped. */
  idleMs: number
  /** Minimum number of leads for which a search sorted by value also builds an index of texts. */
  minSearched: number
  shape: IndexShape
}

interface IndexCacheDeps extends FollowDeps {
  limits: MemoryIndexLimits
  onBuilt: (workspaceId: string, ms: number) => void
  onError: (workspaceId: string, error: unknown) => void
}

/** Cached index with its operations, which never run concurrently. */
interface Entry {
  cached: CachedIndex
  /** Catches up with everything committed before the call, unless that is too much. Concurrent calls share one run. */
  bringUpToDate: () => Promise<boolean>
  /** Maintenance after an answer. */
  afterAnswer: () => Promise<void>
  /** True if built for searches sorted by value; then it never evicts the index of values of its workspace. */
  isForValues: boolean
  /** For an index of values: when an index of texts was last requested for it. */
  textRequestedAtMs: number
}

// Estimated bytes per lead, above the real size.
const bytesPerLead: Record<IndexContents, number> = { text: 180, values: 180, columns: 48 }
// Interval for retrying to build an index of texts for searches sorted by value.
const textRetryMs = 30_000

/** Opens a cache for the indexes of recently searched workspaces, limited by memory. */
export function openIndexCache(deps: IndexCacheDeps) {
  const { limits } = deps
  const entries = new Map<string, Entry>()

  const isKept = (entry: Entry) => entries.get(entryKey(entry)) === entry
  const drop = (entry: Entry) => isKept(entry) && entries.delete(entryKey(entry))
  const fail = (entry: Entry, error: unknown) => {
    drop(entry)
    deps.onError(entry.cached.workspaceId, error)
  }
  const fits = (entry: Entry): boolean => evictUntilFits(entries, entry, limits.maxBytes)
  const builds = makeIndexBuilder(deps, { entries, isKept, drop, fits })

  const queryIndex = async <A>(key: string, nowMs: number, answerOf: IndexQuery<A>): Promise<IndexAnswer<A>> => {
    const entry = entries.get(key)
    if (entry === undefined) return { answer: null, exists: false }
    if (!isIdle(entry, nowMs, limits)) return askEntry(entry, nowMs, answerOf, { isKept, fail })
    drop(entry)
    return { answer: null, exists: false }
  }
  /** Returns the index of texts for a search sorted by value, or null. Builds it if the workspace is large enough. */
  const textIndexFor = async (values: Entry, nowMs: number): Promise<MemoryIndex | null> => {
    const { workspaceId, index, state } = values.cached
    const { answer, exists } = await queryIndex(indexKey(workspaceId, 'text'), nowMs, (texts) => texts)
    const shouldBuild = !exists && state === 'ready' && nowMs - values.textRequestedAtMs >= textRetryMs
    if (!shouldBuild || countLeads(index) < limits.minSearched) return answer
    values.textRequestedAtMs = nowMs
    void builds.warm(workspaceId, nowMs, 'text', true)
    return null
  }

  return {
    /**
     * Builds the index if missing. Resolves to false if it does not fit, or is of columns and one of texts would fit.
     */
    warm: (workspaceId: string, nowMs: number, contents: IndexContents) =>
      builds.warm(workspaceId, nowMs, contents, false),
    /** Queries the index of this kind. */
    find: (workspaceId: string, contents: IndexContents, requested: PageQuery, nowMs: number): Promise<IndexAnswer> => {
      const key = indexKey(workspaceId, contents)
      if (contents !== 'values') return queryIndex(key, nowMs, (index) => queryMemoryIndex(index, requested))
      const values = entries.get(key)
      const texts = values === undefined || requested.term === null ? null : textIndexFor(values, nowMs)
      return queryIndex(key, nowMs, async (index) => querySortedIndex(index, requested, await texts))
    },
    /** Drops indexes that have not been used lately. */
    tidy: (nowMs: number) => {
      for (const entry of entries.values()) if (isIdle(entry, nowMs, limits)) drop(entry)
    },
    /** Returns true if no index exists or is being built. */
    isEmpty: () => entries.size === 0 && builds.isIdle(),
  }
}

interface EntryStore {
  entries: Map<string, Entry>
  isKept(entry: Entry): boolean
  drop(entry: Entry): void
  fits(entry: Entry): boolean
}

/** Builds indexes, each at most once at a time. */
function makeIndexBuilder(deps: IndexCacheDeps, { entries, isKept, drop, fits }: EntryStore) {
  const building = new Map<string, Promise<boolean>>()

  const reachLevel = async (entry: Entry): Promise<boolean> => {
    const progress = await updateIndex(deps, entry.cached)
    if (progress === 'lost') drop(entry)
    return progress === 'level'
  }
  const settle = async (entry: Entry): Promise<void> => {
    if (!(await maintainIndex(deps, entry.cached)) || !fits(entry)) drop(entry)
  }
  /** Returns the estimated number of leads that fit. */
  const maxLeadsFor = (contents: IndexContents) => Math.floor(deps.limits.maxBytes / bytesPerLead[contents])
  /** Counts leads only as far as needed: a workspace that does not fit is checked again every 30 seconds. */
  const count = async (workspaceId: string, contents: IndexContents): Promise<number> => {
    const columns = entries.get(indexKey(workspaceId, 'columns'))?.cached
    if (columns !== undefined && columns.state !== 'building') return countLeads(columns.index)
    return countLive(deps.db.sql, workspaceId, maxLeadsFor(contents) + 1)
  }
  const build = async (
    workspaceId: string,
    nowMs: number,
    contents: IndexContents,
    isForValues: boolean,
  ): Promise<boolean> => {
    const startedMs = performance.now()
    const live = await count(workspaceId, contents)
    if (contents === 'columns' && live <= maxLeadsFor('text')) return false
    const cached = newCachedIndex(workspaceId, { ...deps.limits.shape, contents }, nowMs, live * bytesPerLead[contents])
    const entry: Entry = {
      cached,
      bringUpToDate: singleFlight(() => reachLevel(entry)),
      afterAnswer: singleFlight(() => settle(entry)),
      isForValues,
      textRequestedAtMs: Number.NEGATIVE_INFINITY,
    }
    if (!fits(entry)) return false
    entries.set(entryKey(entry), entry)
    const isBuilt = await loadIndex(deps, cached, () => isKept(entry) && fits(entry)).catch((error: unknown) => {
      drop(entry)
      throw error
    })
    if (isBuilt) deps.onBuilt(workspaceId, Math.round(performance.now() - startedMs))
    else drop(entry)
    return isBuilt
  }

  return {
    warm: (workspaceId: string, nowMs: number, contents: IndexContents, isBeside: boolean): Promise<boolean> => {
      const key = indexKey(workspaceId, contents)
      const running = building.get(key)
      if (running !== undefined) return running
      if (entries.has(key)) return Promise.resolve(true)
      const started = build(workspaceId, nowMs, contents, isBeside)
        .catch((error: unknown) => {
          deps.onError(workspaceId, error)
          return false
        })
        .finally(() => building.delete(key))
      building.set(key, started)
      return started
    },
    isIdle: () => building.size === 0,
  }
}

type IndexQuery<A> = (index: MemoryIndex) => A | Promise<A>

interface EntryActions {
  isKept(entry: Entry): boolean
  fail(entry: Entry, error: unknown): void
}

async function askEntry<A>(
  entry: Entry,
  nowMs: number,
  answerOf: IndexQuery<A>,
  { isKept, fail }: EntryActions,
): Promise<IndexAnswer<A>> {
  entry.cached.lastUsedMs = nowMs
  try {
    const answer = (await entry.bringUpToDate()) ? await answerOf(entry.cached.index) : null
    setImmediate(() => entry.afterAnswer().catch((error: unknown) => fail(entry, error)))
    return { answer, exists: isKept(entry) }
  } catch (error) {
    fail(entry, error)
    return { answer: null, exists: false }
  }
}

async function updateIndex(deps: IndexCacheDeps, cached: CachedIndex): Promise<Progress> {
  if (cached.state !== 'ready') return 'behind'
  const progress = await catchUp(deps, cached)
  if (progress === 'behind') cached.state = 'behind'
  return progress
}

/** Maintains the index after an answer; false if it has to be rebuilt. */
async function maintainIndex(deps: IndexCacheDeps, cached: CachedIndex): Promise<boolean> {
  if (cached.state === 'behind') {
    if ((await catchUpFully(deps, cached)) === 'lost') return false
    cached.state = 'ready'
  }
  if (cached.appliedSeqs.size > maxUnsequencedEvents) await sequenceAll(deps.db, cached.workspaceId)
  if (compact(cached.index, cached.shape)) cached.bytes = memoryIndexBytes(cached.index)
  return true
}

const isIdle = ({ cached }: Entry, nowMs: number, { idleMs }: MemoryIndexLimits): boolean =>
  nowMs - cached.lastUsedMs > idleMs

const indexKey = (workspaceId: string, contents: IndexContents): string => `${workspaceId} ${contents}`
const entryKey = ({ cached: { workspaceId, shape } }: Entry): string => indexKey(workspaceId, shape.contents ?? 'text')

/**
 * Drops the least recently used indexes until this one fits; false if it cannot fit. An index of values never evicts
 * the index of texts of its own workspace, nor the other way round if the texts were built for it: both would be
 * rebuilt in turn.
 */
function evictUntilFits(entries: Map<string, Entry>, requested: Entry, maxBytes: number): boolean {
  const key = entryKey(requested)
  const others = [...entries.values()].filter((entry) => entryKey(entry) !== key)
  const isProtected = (entry: Entry) =>
    (requested.cached.shape.contents === 'values' || requested.isForValues) &&
    entry.cached.workspaceId === requested.cached.workspaceId
  const minimum = others.filter(isProtected).reduce((sum, { cached }) => sum + cached.bytes, requested.cached.bytes)
  if (minimum > maxBytes) return false
  let total = others.reduce((sum, { cached }) => sum + cached.bytes, requested.cached.bytes)
  for (const entry of others.sort((a, b) => a.cached.lastUsedMs - b.cached.lastUsedMs)) {
    if (total <= maxBytes) break
    if (isProtected(entry)) continue
    entries.delete(entryKey(entry))
    total -= entry.cached.bytes
  }
  return true
}

interface CachedIndex extends FollowedIndex {
  lastUsedMs: number
  /** Size in memory, or its estimate until it is built. */
  bytes: number
  state: 'building' | 'ready' | 'behind'
}

function newCachedIndex(workspaceId: string, shape: IndexShape, nowMs: number, bytes: number): CachedIndex {
  const index = newMemoryIndex(shape)
  return { workspaceId, index, shape, position: 0, appliedSeqs: new Set(), lastUsedMs: nowMs, bytes, state: 'building' }
}

/** Loads all leads, then applies changes made meanwhile; false if `mayContinue` denies more memory. */
async function loadIndex(deps: FollowDeps, cached: CachedIndex, mayContinue: () => boolean): Promise<boolean> {
  const { index, shape, workspaceId } = cached
  // Read before the leads, so that later commits are after this position.
  await sequenceAll(deps.db, workspaceId)
  cached.position = (await readFeedState(deps.db.sql, workspaceId)).lastPosition
  const open = newSegment(shape.segmentSlots, shape.contents)
  for await (const leads of readLive(deps.db.sql, deps.keyStore, workspaceId, shape.contents)) {
    for (const lead of leads) {
      if (isFull(open)) {
        index.segments.push(freeze(open))
        cached.bytes = Math.max(cached.bytes, memoryIndexBytes(index))
        clear(open)
      }
      appendLead(index, open, lead)
    }
    if (!mayContinue()) return false
  }
  if (open.count > 0) index.segments.push(freeze(open))
  cached.bytes = memoryIndexBytes(index)
  if (!mayContinue() || (await catchUpFully(deps, cached)) === 'lost') return false
  cached.state = 'ready'
  return true
}
