import { type FollowDeps, type Following, placeAll, pursue, readFeedState } from './follow.ts'
import { appendLead, type IndexShape, memoryIndexBytes, newMemoryIndex } from './memory-index.ts'
import { readLive } from './read-leads.ts'
import { clear, isFull, newSegment, seal } from './segment.ts'

/** A memory index in the cache. */
export interface CachedIndex extends Following {
  lastUsedMs: number
  /** What it takes in memory, or is expected to once it is built. */
  bytes: number
  state: 'building' | 'ready' | 'behind'
}

export function newCachedIndex(workspaceId: string, shape: IndexShape, nowMs: number, bytes: number): CachedIndex {
  const index = newMemoryIndex(shape)
  return { workspaceId, index, shape, position: 0, seen: new Set(), lastUsedMs: nowMs, bytes, state: 'building' }
}

/** Reads every lead into the index, then what changed meanwhile; false when `mayGoOn` denies it more memory. */
export async function fill(deps: FollowDeps, cached: CachedIndex, mayGoOn: () => boolean): Promise<boolean> {
  const { index, shape, workspaceId } = cached
  // Read before the leads are: whatever is committed later comes after it.
  await placeAll(deps.db, workspaceId)
  cached.position = (await readFeedState(deps.db.sql, workspaceId)).lastPosition
  const open = newSegment(shape.segmentSlots, shape.holds)
  for await (const leads of readLive(deps.db.sql, deps.vault, workspaceId, shape.holds)) {
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
