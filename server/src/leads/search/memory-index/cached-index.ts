import { type FollowDeps, type Following, placeAll, pursue, readFeedState } from './follow.ts'
import { appendLead, type IndexShape, memoryIndexBytes, newMemoryIndex } from './memory-index.ts'
import { readLive } from './read-leads.ts'
import { clear, isFull, newSegment, seal } from './segment.ts'

/** An image on the shelf. */
export interface CachedIndex extends Following {
  lastUsedMs: number
  /** What it takes in memory, or is expected to once it is built. */
  bytes: number
  state: 'building' | 'ready' | 'behind'
}

export function newCachedIndex(workspaceId: string, shape: IndexShape, nowMs: number, bytes: number): CachedIndex {
  const image = newMemoryIndex(shape)
  return { workspaceId, image, shape, position: 0, seen: new Set(), lastUsedMs: nowMs, bytes, state: 'building' }
}

/** Reads every lead into the image, then what changed meanwhile; false when `mayGoOn` denies it more memory. */
export async function fill(deps: FollowDeps, held: CachedIndex, mayGoOn: () => boolean): Promise<boolean> {
  const { image, shape, workspaceId } = held
  // Read before the leads are: whatever is committed later comes after it.
  await placeAll(deps.db, workspaceId)
  held.position = (await readFeedState(deps.db.sql, workspaceId)).lastPosition
  const open = newSegment(shape.segmentSlots)
  for await (const leads of readLive(deps.db.sql, deps.vault, workspaceId)) {
    for (const lead of leads) {
      if (isFull(open)) {
        image.segments.push(seal(open))
        held.bytes = Math.max(held.bytes, memoryIndexBytes(image))
        clear(open)
      }
      appendLead(image, open, lead)
    }
    if (!mayGoOn()) return false
  }
  if (open.count > 0) image.segments.push(seal(open))
  held.bytes = memoryIndexBytes(image)
  if (!mayGoOn() || (await pursue(deps, held)) === 'lost') return false
  held.state = 'ready'
  return true
}
