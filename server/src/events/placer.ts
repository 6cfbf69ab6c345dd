import type { Db } from '../base/db.ts'
import { listUnplaced, placeBatch, placeEvents } from './place.ts'

/** Gives a workspace's events their places, for any number of callers in one go. */
export interface Placer {
  /** Once it resolves, what had been committed before the call has its place. */
  place(workspaceId: string): Promise<void>
}

interface Run {
  now: Promise<void>
  next: Promise<void> | null
}

export function createPlacer(db: Db): Placer {
  const runs = new Map<string, Run>()

  const begin = (workspaceId: string): Promise<void> => {
    const run: Run = { now: placeAll(db, workspaceId), next: null }
    runs.set(workspaceId, run)
    const forget = () => void (run.next === null && runs.delete(workspaceId))
    run.now.then(forget, forget)
    return run.now
  }

  return {
    place: (workspaceId) => {
      const run = runs.get(workspaceId)
      if (run === undefined) return begin(workspaceId)
      // The run under way may have looked before the caller's commit, so that all who come meanwhile share the next.
      const onward = () => begin(workspaceId)
      run.next ??= run.now.then(onward, onward)
      return run.next
    },
  }
}

async function placeAll(db: Db, workspaceId: string): Promise<void> {
  let placed: number
  do placed = await placeEvents(db, workspaceId)
  while (placed === placeBatch)
}

/** Gives events that nobody has read their places, without which they would be kept for ever. */
export async function placeForgotten(db: Db): Promise<number> {
  const workspaceIds = await listUnplaced(db.sql)
  for (const workspaceId of workspaceIds) await placeAll(db, workspaceId)
  return workspaceIds.length
}
