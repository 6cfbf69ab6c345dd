import { singleFlight } from '../../../base/async/single-flight.ts'
import { type CachedIndex, fill, newCachedIndex } from './cached-index.ts'
import { catchUp, type FollowDeps, fewEvents, type Progress, placeAll, pursue } from './follow.ts'
import { compact, memoryIndexBytes, queryMemoryIndex } from './memory-index.ts'
import type { MemoryIndexLimits } from './messages.ts'
import type { IndexAnswer, IndexQuery } from './query.ts'
import { countLive } from './read-leads.ts'

/** The images of the workspaces that are searched these minutes, within a bound of memory. */
export interface IndexCache {
  /** Builds the image unless it is there; false when it does not fit. */
  warm(workspaceId: string, nowMs: number): Promise<boolean>
  /** A null answer is no answer: ask the database. `exists` tells whether asking again later may help. */
  find(workspaceId: string, query: IndexQuery, nowMs: number): Promise<{ answer: IndexAnswer | null; exists: boolean }>
  /** Drops what nobody has asked for lately. */
  tidy(nowMs: number): void
  /** Neither holds an image nor builds one. */
  isEmpty(): boolean
}

export interface IndexCacheDeps extends FollowDeps {
  limits: MemoryIndexLimits
  onBuilt: (workspaceId: string, ms: number) => void
  onTrouble: (workspaceId: string, error: unknown) => void
}

/** A held image with what is done to it, never two of them at once. */
interface Entry {
  held: CachedIndex
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

  const isKept = (entry: Entry) => entries.get(entry.held.workspaceId) === entry
  const drop = (entry: Entry) => isKept(entry) && entries.delete(entry.held.workspaceId)
  const fail = (entry: Entry, error: unknown) => {
    drop(entry)
    deps.onTrouble(entry.held.workspaceId, error)
  }
  const fits = (entry: Entry): boolean => makeRoom(entries, entry, limits.maxBytes)

  const reachLevel = async (entry: Entry): Promise<boolean> => {
    const progress = await level(deps, entry.held)
    if (progress === 'lost') drop(entry)
    return progress === 'level'
  }
  const settle = async (entry: Entry): Promise<void> => {
    if (!(await tend(deps, entry.held)) || !fits(entry)) drop(entry)
  }
  const build = async (workspaceId: string, nowMs: number): Promise<boolean> => {
    const startedMs = performance.now()
    const live = await countLive(deps.db.sql, workspaceId)
    const held = newCachedIndex(workspaceId, limits.shape, nowMs, live * bytesPerLead)
    const entry: Entry = {
      held,
      reachLevel: singleFlight(() => reachLevel(entry)),
      settle: singleFlight(() => settle(entry)),
    }
    if (!fits(entry)) return false
    entries.set(workspaceId, entry)
    const isBuilt = await fill(deps, held, () => isKept(entry) && fits(entry)).catch((error: unknown) => {
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
      entry.held.lastUsedMs = nowMs
      try {
        const answer = (await entry.reachLevel()) ? queryMemoryIndex(entry.held.image, query) : null
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

async function level(deps: IndexCacheDeps, held: CachedIndex): Promise<Progress> {
  if (held.state !== 'ready') return 'behind'
  const progress = await catchUp(deps, held)
  if (progress === 'behind') held.state = 'behind'
  return progress
}

/** What need not be done before an answer; false when the image has to be built anew. */
async function tend(deps: IndexCacheDeps, held: CachedIndex): Promise<boolean> {
  if (held.state === 'behind') {
    if ((await pursue(deps, held)) === 'lost') return false
    held.state = 'ready'
  }
  if (held.seen.size > fewEvents) await placeAll(deps.db, held.workspaceId)
  if (compact(held.image, held.shape)) held.bytes = memoryIndexBytes(held.image)
  return true
}

const isIdle = ({ held }: Entry, nowMs: number, { idleMs }: MemoryIndexLimits): boolean =>
  nowMs - held.lastUsedMs > idleMs

/** Drops the images that were used longest ago until this one fits; false when it does not fit even alone. */
function makeRoom(entries: Map<string, Entry>, wanted: Entry, maxBytes: number): boolean {
  if (wanted.held.bytes > maxBytes) return false
  const others = [...entries.values()].filter((entry) => entry.held.workspaceId !== wanted.held.workspaceId)
  let total = others.reduce((sum, { held }) => sum + held.bytes, wanted.held.bytes)
  for (const { held } of others.sort((a, b) => a.held.lastUsedMs - b.held.lastUsedMs)) {
    if (total <= maxBytes) break
    entries.delete(held.workspaceId)
    total -= held.bytes
  }
  return true
}
