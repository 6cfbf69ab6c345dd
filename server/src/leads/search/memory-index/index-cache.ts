import { singleFlight } from '../../../base/async/single-flight.ts'
import { type CachedIndex, fill, newCachedIndex } from './cached-index.ts'
import { catchUp, type FollowDeps, fewEvents, type Progress, placeAll, pursue } from './follow.ts'
import { compact, memoryIndexBytes, queryMemoryIndex } from './memory-index.ts'
import type { MemoryIndexLimits } from './messages.ts'
import type { IndexAnswer, IndexQuery } from './query.ts'
import { countLive } from './read-leads.ts'

/** The indexes of the workspaces that are searched these minutes, within a bound of memory. */
export interface IndexCache {
  /** Builds the index unless it is there; false when it does not fit. */
  warm(workspaceId: string, nowMs: number): Promise<boolean>
  /** A null answer is no answer: ask the database. `exists` tells whether asking again later may help. */
  find(workspaceId: string, query: IndexQuery, nowMs: number): Promise<{ answer: IndexAnswer | null; exists: boolean }>
  /** Drops what nobody has asked for lately. */
  tidy(nowMs: number): void
  /** Neither holds an index nor builds one. */
  isEmpty(): boolean
}

export interface IndexCacheDeps extends FollowDeps {
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
}

/** What a lead takes at first guess; more than it does. */
const bytesPerLead = 180

export function openIndexCache(deps: IndexCacheDeps): IndexCache {
  const { limits } = deps
  const entries = new Map<string, Entry>()
  const building = new Map<string, Promise<boolean>>()

  const isKept = (entry: Entry) => entries.get(entry.cached.workspaceId) === entry
  const drop = (entry: Entry) => isKept(entry) && entries.delete(entry.cached.workspaceId)
  const fail = (entry: Entry, error: unknown) => {
    drop(entry)
    deps.onTrouble(entry.cached.workspaceId, error)
  }
  const fits = (entry: Entry): boolean => makeRoom(entries, entry, limits.maxBytes)

  const reachLevel = async (entry: Entry): Promise<boolean> => {
    const progress = await level(deps, entry.cached)
    if (progress === 'lost') drop(entry)
    return progress === 'level'
  }
  const settle = async (entry: Entry): Promise<void> => {
    if (!(await tend(deps, entry.cached)) || !fits(entry)) drop(entry)
  }
  const build = async (workspaceId: string, nowMs: number): Promise<boolean> => {
    const startedMs = performance.now()
    const live = await countLive(deps.db.sql, workspaceId)
    const cached = newCachedIndex(workspaceId, limits.shape, nowMs, live * bytesPerLead)
    const entry: Entry = {
      cached,
      reachLevel: singleFlight(() => reachLevel(entry)),
      settle: singleFlight(() => settle(entry)),
    }
    if (!fits(entry)) return false
    entries.set(workspaceId, entry)
    const isBuilt = await fill(deps, cached, () => isKept(entry) && fits(entry)).catch((error: unknown) => {
      drop(entry)
      throw error
    })
    if (isBuilt) deps.onBuilt(workspaceId, Math.round(performance.now() - startedMs))
    else drop(entry)
    return isBuilt
  }

  return {
    warm: (workspaceId, nowMs) => {
      const running = building.get(workspaceId)
      if (running !== undefined) return running
      if (entries.has(workspaceId)) return Promise.resolve(true)
      const started = build(workspaceId, nowMs)
        .catch((error: unknown) => {
          deps.onTrouble(workspaceId, error)
          return false
        })
        .finally(() => building.delete(workspaceId))
      building.set(workspaceId, started)
      return started
    },
    find: async (workspaceId, query, nowMs) => {
      const entry = entries.get(workspaceId)
      if (entry === undefined || isIdle(entry, nowMs, limits)) {
        if (entry !== undefined) drop(entry)
        return { answer: null, exists: false }
      }
      entry.cached.lastUsedMs = nowMs
      try {
        const answer = (await entry.reachLevel()) ? queryMemoryIndex(entry.cached.index, query) : null
        setImmediate(() => entry.settle().catch((error: unknown) => fail(entry, error)))
        return { answer, exists: isKept(entry) }
      } catch (error) {
        fail(entry, error)
        return { answer: null, exists: false }
      }
    },
    tidy: (nowMs) => {
      for (const entry of entries.values()) if (isIdle(entry, nowMs, limits)) drop(entry)
    },
    isEmpty: () => entries.size === 0 && building.size === 0,
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

/** Drops the indexes that were used longest ago until this one fits; false when it does not fit even alone. */
function makeRoom(entries: Map<string, Entry>, wanted: Entry, maxBytes: number): boolean {
  if (wanted.cached.bytes > maxBytes) return false
  const others = [...entries.values()].filter((entry) => entry.cached.workspaceId !== wanted.cached.workspaceId)
  let total = others.reduce((sum, { cached }) => sum + cached.bytes, wanted.cached.bytes)
  for (const { cached } of others.sort((a, b) => a.cached.lastUsedMs - b.cached.lastUsedMs)) {
    if (total <= maxBytes) break
    entries.delete(cached.workspaceId)
    total -= cached.bytes
  }
  return true
}
