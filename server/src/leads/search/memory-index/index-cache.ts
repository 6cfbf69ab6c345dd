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

/** A null answer is no answer: ask the database. `exists` tells whether asking again later may help. */
export interface Answered<A = Found> {
  answer: A | null
  exists: boolean
}

export interface MemoryIndexLimits {
  /** What all indexes together may take. */
  maxBytes: number
  /** An index that nobody asked for this long is dropped. */
  idleMs: number
  /** Fewer leads are searched in the order of their values without an index of texts. */
  minSearched: number
  shape: IndexShape
}

interface IndexCacheDeps extends FollowDeps {
  limits: MemoryIndexLimits
  onBuilt: (workspaceId: string, ms: number) => void
  onTrouble: (workspaceId: string, error: unknown) => void
}

/** A cached index with what is done to it, never two of them at once. */
interface Entry {
  cached: CachedIndex
  /** Reaches all that was committed before the call, unless that is too much; calls that come together share it. */
  reachLevel: () => Promise<boolean>
  /** What is done after an answer. */
  settle: () => Promise<void>
  /** Whether it was built for searches in the order of values of its workspace, whose place it then does not take. */
  isBeside: boolean
  /** Of values: when the index of texts was last wanted beside it. */
  besideAtMs: number
}

/** What a lead takes at first guess; more than it does. */
const bytesPerLead: Record<Held, number> = { text: 180, values: 180, columns: 48 }
/** How often an index of texts that was not built is tried again for searches in the order of values. */
const besideAgainMs = 30_000

/** The indexes of the workspaces that are searched these minutes, within a bound of memory. */
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
  /** The index of texts for a search in the order of values; null while there is none, and it is built if it is worth it. */
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
    /** Builds the index unless it is there; false when it does not fit, or, of columns alone, when one of texts would. */
    warm: (workspaceId: string, nowMs: number, holds: Held) => builds.warm(workspaceId, nowMs, holds, false),
    /** Asks the index that holds so much. */
    find: (workspaceId: string, holds: Held, wanted: Wanted, nowMs: number): Promise<Answered> => {
      const key = keyTo(workspaceId, holds)
      if (holds !== 'values') return ask(key, nowMs, (index) => queryMemoryIndex(index, wanted))
      const values = entries.get(key)
      const texts = values === undefined || wanted.term === null ? null : textsBeside(values, nowMs)
      return ask(key, nowMs, async (index) => answerArranged(index, wanted, await texts))
    },
    /** Drops what nobody has asked for lately. */
    tidy: (nowMs: number) => {
      for (const entry of entries.values()) if (isIdle(entry, nowMs, limits)) drop(entry)
    },
    /** Neither holds an index nor builds one. */
    isEmpty: () => entries.size === 0 && builds.isIdle(),
  }
}

interface Shelf {
  entries: Map<string, Entry>
  isKept(entry: Entry): boolean
  drop(entry: Entry): void
  fits(entry: Entry): boolean
}

/** The indexes that are being built, each once. */
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
  /** The live leads that fit at first guess. */
  const mostOf = (holds: Held) => Math.floor(deps.limits.maxBytes / bytesPerLead[holds])
  /** A workspace that does not fit is looked at again every half minute: no more of it is counted than tells so. */
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

/** What need not be done before an answer; false when the index has to be built anew. */
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
 * Drops the indexes that were used longest ago until this one fits; false when it does not fit even so. Values never take
 * the place of the text of their own workspace, nor does text that is there for their sake: both would be built by turns.
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

/** A memory index in the cache. */
interface CachedIndex extends Following {
  lastUsedMs: number
  /** What it takes in memory, or is expected to once it is built. */
  bytes: number
  state: 'building' | 'ready' | 'behind'
}

function newCachedIndex(workspaceId: string, shape: IndexShape, nowMs: number, bytes: number): CachedIndex {
  const index = newMemoryIndex(shape)
  return { workspaceId, index, shape, position: 0, seen: new Set(), lastUsedMs: nowMs, bytes, state: 'building' }
}

/** Reads every lead into the index, then what changed meanwhile; false when `mayGoOn` denies it more memory. */
async function fill(deps: FollowDeps, cached: CachedIndex, mayGoOn: () => boolean): Promise<boolean> {
  const { index, shape, workspaceId } = cached
  // Read before the leads are: whatever is committed later comes after it.
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
