import { singleFlight } from '../../../base/async/batch.ts'
import type { Found, Wanted } from '../list-filter.ts'
import {
  catchUp,
  countLive,
  type FollowDeps,
  type Following,
  fewEvents,
  type Progress,
  placeAll,
  pursue,
  readFeedState,
  readLive,
} from './follow.ts'
import {
  appendLead,
  compact,
  countLeads,
  type IndexShape,
  type MemoryIndex,
  memoryIndexBytes,
  newMemoryIndex,
} from './memory-index.ts'
import { queryMemoryIndex } from './query.ts'
import { clear, type Held, isFull, newSegment, seal } from './segment.ts'
import { answerArranged } from './sorted-query.ts'

/** A null answer means that the database must answer. `exists` tells whether it is worth asking the index again. */
export interface Answered<A = Found> {
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
  onTrouble: (workspaceId: string, error: unknown) => void
}

/** Cached index with its operations, which never run concurrently. */
interface Entry {
  cached: CachedIndex
  /** Catches up with everything committed before the call, unless that is too much. Concurrent calls share one run. */
  reachLevel: () => Promise<boolean>
  /** Maintenance after an answer. */
  settle: () => Promise<void>
  /** True if built for searches sorted by value; then it never evicts the index of values of its workspace. */
  isBeside: boolean
  /** For an index of values: when an index of texts was last requested for it. */
  besideAtMs: number
}

// Estimated bytes per lead, above the real size.
const bytesPerLead: Record<Held, number> = { text: 180, values: 180, columns: 48 }
// Interval for retrying to build an index of texts for searches sorted by value.
const besideAgainMs = 30_000

/** Opens a cache for the indexes of recently searched workspaces, limited by memory. */
export function openIndexCache(deps: IndexCacheDeps) {
  const { limits } = deps
  const entries = new Map<string, Entry>()

  const isKept = (entry: Entry) => entries.get(keyOf(entry)) === entry
  const drop = (entry: Entry) => isKept(entry) && entries.delete(keyOf(entry))
  const fail = (entry: Entry, error: unknown) => {
    drop(entry)
    deps.onTrouble(entry.cached.workspaceId, error)
  }
  const fits = (entry: Entry): boolean => makeRoom(entries, entry, limits.maxBytes)
  const builds = openBuilds(deps, { entries, isKept, drop, fits })

  const ask = async <A>(key: string, nowMs: number, answerOf: Answering<A>): Promise<Answered<A>> => {
    const entry = entries.get(key)
    if (entry === undefined) return { answer: null, exists: false }
    if (!isIdle(entry, nowMs, limits)) return askEntry(entry, nowMs, answerOf, { isKept, fail })
    drop(entry)
    return { answer: null, exists: false }
  }
  /** Returns the index of texts for a search sorted by value, or null. Builds it if the workspace is large enough. */
  const textsBeside = async (values: Entry, nowMs: number): Promise<MemoryIndex | null> => {
    const { workspaceId, index, state } = values.cached
    const { answer, exists } = await ask(keyTo(workspaceId, 'text'), nowMs, (texts) => texts)
    const isWanted = !exists && state === 'ready' && nowMs - values.besideAtMs >= besideAgainMs
    if (!isWanted || countLeads(index) < limits.minSearched) return answer
    values.besideAtMs = nowMs
    void builds.warm(workspaceId, nowMs, 'text', true)
    return null
  }

  return {
    /**
     * Builds the index if missing. Resolves to false if it does not fit, or is of columns and one of texts would fit.
     */
    warm: (workspaceId: string, nowMs: number, holds: Held) => builds.warm(workspaceId, nowMs, holds, false),
    /** Queries the index of this kind. */
    find: (workspaceId: string, holds: Held, wanted: Wanted, nowMs: number): Promise<Answered> => {
      const key = keyTo(workspaceId, holds)
      if (holds !== 'values') return ask(key, nowMs, (index) => queryMemoryIndex(index, wanted))
      const values = entries.get(key)
      const texts = values === undefined || wanted.term === null ? null : textsBeside(values, nowMs)
      return ask(key, nowMs, async (index) => answerArranged(index, wanted, await texts))
    },
    /** Drops indexes that have not been used lately. */
    tidy: (nowMs: number) => {
      for (const entry of entries.values()) if (isIdle(entry, nowMs, limits)) drop(entry)
    },
    /** Returns true if no index exists or is being built. */
    isEmpty: () => entries.size === 0 && builds.isIdle(),
  }
}

interface Shelf {
  entries: Map<string, Entry>
  isKept(entry: Entry): boolean
  drop(entry: Entry): void
  fits(entry: Entry): boolean
}

/** Builds indexes, each at most once at a time. */
function openBuilds(deps: IndexCacheDeps, { entries, isKept, drop, fits }: Shelf) {
  const building = new Map<string, Promise<boolean>>()

  const reachLevel = async (entry: Entry): Promise<boolean> => {
    const progress = await level(deps, entry.cached)
    if (progress === 'lost') drop(entry)
    return progress === 'level'
  }
  const settle = async (entry: Entry): Promise<void> => {
    if (!(await tend(deps, entry.cached)) || !fits(entry)) drop(entry)
  }
  /** Returns the estimated number of leads that fit. */
  const mostOf = (holds: Held) => Math.floor(deps.limits.maxBytes / bytesPerLead[holds])
  /** Counts leads only as far as needed: a workspace that does not fit is checked again every 30 seconds. */
  const count = async (workspaceId: string, holds: Held): Promise<number> => {
    const columns = entries.get(keyTo(workspaceId, 'columns'))?.cached
    if (columns !== undefined && columns.state !== 'building') return countLeads(columns.index)
    return countLive(deps.db.sql, workspaceId, mostOf(holds) + 1)
  }
  const build = async (workspaceId: string, nowMs: number, holds: Held, isBeside: boolean): Promise<boolean> => {
    const startedMs = performance.now()
    const live = await count(workspaceId, holds)
    if (holds === 'columns' && live <= mostOf('text')) return false
    const cached = newCachedIndex(workspaceId, { ...deps.limits.shape, holds }, nowMs, live * bytesPerLead[holds])
    const entry: Entry = {
      cached,
      reachLevel: singleFlight(() => reachLevel(entry)),
      settle: singleFlight(() => settle(entry)),
      isBeside,
      besideAtMs: Number.NEGATIVE_INFINITY,
    }
    if (!fits(entry)) return false
    entries.set(keyOf(entry), entry)
    const isBuilt = await fill(deps, cached, () => isKept(entry) && fits(entry)).catch((error: unknown) => {
      drop(entry)
      throw error
    })
    if (isBuilt) deps.onBuilt(workspaceId, Math.round(performance.now() - startedMs))
    else drop(entry)
    return isBuilt
  }

  return {
    warm: (workspaceId: string, nowMs: number, holds: Held, isBeside: boolean): Promise<boolean> => {
      const key = keyTo(workspaceId, holds)
      const running = building.get(key)
      if (running !== undefined) return running
      if (entries.has(key)) return Promise.resolve(true)
      const started = build(workspaceId, nowMs, holds, isBeside)
        .catch((error: unknown) => {
          deps.onTrouble(workspaceId, error)
          return false
        })
        .finally(() => building.delete(key))
      building.set(key, started)
      return started
    },
    isIdle: () => building.size === 0,
  }
}

type Answering<A> = (index: MemoryIndex) => A | Promise<A>

interface Hands {
  isKept(entry: Entry): boolean
  fail(entry: Entry, error: unknown): void
}

async function askEntry<A>(
  entry: Entry,
  nowMs: number,
  answerOf: Answering<A>,
  { isKept, fail }: Hands,
): Promise<Answered<A>> {
  entry.cached.lastUsedMs = nowMs
  try {
    const answer = (await entry.reachLevel()) ? await answerOf(entry.cached.index) : null
    setImmediate(() => entry.settle().catch((error: unknown) => fail(entry, error)))
    return { answer, exists: isKept(entry) }
  } catch (error) {
    fail(entry, error)
    return { answer: null, exists: false }
  }
}

async function level(deps: IndexCacheDeps, cached: CachedIndex): Promise<Progress> {
  if (cached.state !== 'ready') return 'behind'
  const progress = await catchUp(deps, cached)
  if (progress === 'behind') cached.state = 'behind'
  return progress
}

/** Maintains the index after an answer; false if it has to be rebuilt. */
async function tend(deps: IndexCacheDeps, cached: CachedIndex): Promise<boolean> {
  if (cached.state === 'behind') {
    if ((await pursue(deps, cached)) === 'lost') return false
    cached.state = 'ready'
  }
  if (cached.seen.size > fewEvents) await placeAll(deps.db, cached.workspaceId)
  if (compact(cached.index, cached.shape)) cached.bytes = memoryIndexBytes(cached.index)
  return true
}

const isIdle = ({ cached }: Entry, nowMs: number, { idleMs }: MemoryIndexLimits): boolean =>
  nowMs - cached.lastUsedMs > idleMs

const keyTo = (workspaceId: string, holds: Held): string => `${workspaceId} ${holds}`
const keyOf = ({ cached: { workspaceId, shape } }: Entry): string => keyTo(workspaceId, shape.holds ?? 'text')

/**
 * Drops the least recently used indexes until this one fits; false if it cannot fit. An index of values never evicts
 * the index of texts of its own workspace, nor the other way round if the texts were built for it: both would be
 * rebuilt in turn.
 */
function makeRoom(entries: Map<string, Entry>, wanted: Entry, maxBytes: number): boolean {
  const key = keyOf(wanted)
  const others = [...entries.values()].filter((entry) => keyOf(entry) !== key)
  const isBound = (entry: Entry) =>
    (wanted.cached.shape.holds === 'values' || wanted.isBeside) &&
    entry.cached.workspaceId === wanted.cached.workspaceId
  const least = others.filter(isBound).reduce((sum, { cached }) => sum + cached.bytes, wanted.cached.bytes)
  if (least > maxBytes) return false
  let total = others.reduce((sum, { cached }) => sum + cached.bytes, wanted.cached.bytes)
  for (const entry of others.sort((a, b) => a.cached.lastUsedMs - b.cached.lastUsedMs)) {
    if (total <= maxBytes) break
    if (isBound(entry)) continue
    entries.delete(keyOf(entry))
    total -= entry.cached.bytes
  }
  return true
}

interface CachedIndex extends Following {
  lastUsedMs: number
  /** Size in memory, or its estimate until it is built. */
  bytes: number
  state: 'building' | 'ready' | 'behind'
}

function newCachedIndex(workspaceId: string, shape: IndexShape, nowMs: number, bytes: number): CachedIndex {
  const index = newMemoryIndex(shape)
  return { workspaceId, index, shape, position: 0, seen: new Set(), lastUsedMs: nowMs, bytes, state: 'building' }
}

/** Loads all leads, then applies changes made meanwhile; false if `mayGoOn` denies more memory. */
async function fill(deps: FollowDeps, cached: CachedIndex, mayGoOn: () => boolean): Promise<boolean> {
  const { index, shape, workspaceId } = cached
  // Read before the leads, so that later commits are after this position.
  await placeAll(deps.db, workspaceId)
  cached.position = (await readFeedState(deps.db.sql, workspaceId)).lastPosition
  const open = newSegment(shape.segmentSlots, shape.holds)
  for await (const leads of readLive(deps.db.sql, deps.keyStore, workspaceId, shape.holds)) {
    for (const lead of leads) {
      if (isFull(open)) {
        index.segments.push(seal(open))
        cached.bytes = Math.max(cached.bytes, memoryIndexBytes(index))
        clear(open)
      }
      appendLead(index, open, lead)
    }
    if (!mayGoOn()) return false
  }
  if (open.count > 0) index.segments.push(seal(open))
  cached.bytes = memoryIndexBytes(index)
  if (!mayGoOn() || (await pursue(deps, cached)) === 'lost') return false
  cached.state = 'ready'
  return true
}
