import type { Db } from '../base/db.ts'
import type { Log } from '../base/log.ts'
import { listUnplaced, placeBatch, placeEvents } from '../events/place.ts'

const maxAtOnce = 4

/** Gives committed events their places in the background, in a few workspaces at a time. */
export interface Placing {
  /** Places what there is in one workspace, soon. */
  place(workspaceId: string): void
  /** Places whatever waits, and answers how many workspaces had something. */
  placeAll(): Promise<number>
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

export function createPlacing(db: Db, log: Log): Placing {
  const wanted = new Set<string>()
  const running = new Map<string, Promise<void>>()

  const startNext = () => {
    for (const workspaceId of wanted) {
      if (running.size >= maxAtOnce) return
      // One at a time in each: they would only wait for each other.
      if (running.has(workspaceId)) continue
      wanted.delete(workspaceId)
      const run = placeIn(workspaceId).finally(() => {
        running.delete(workspaceId)
        startNext()
      })
      running.set(workspaceId, run)
    }
  }
  const placeIn = async (workspaceId: string) => {
    try {
      let placed: number
      do placed = await placeEvents(db, workspaceId)
      while (placed === placeBatch)
    } catch (error) {
      log.error('events not placed', { workspaceId }, error)
    }
  }
  const place = (workspaceId: string) => {
    wanted.add(workspaceId)
    startNext()
  }
  const idle = async () => {
    while (running.size > 0) await Promise.all(running.values())
  }
  return {
    place,
    placeAll: async () => {
      const workspaceIds = await listUnplaced(db.sql)
      for (const workspaceId of workspaceIds) place(workspaceId)
      await idle()
      return workspaceIds.length
    },
    idle,
  }
}
