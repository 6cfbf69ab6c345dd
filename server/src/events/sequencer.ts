import pLimit from 'p-limit'
import { singleFlightByKey } from '../base/async/batch.ts'
import type { Db } from '../base/db.ts'
import { listUnsequenced, sequenceBatch, sequenceEvents } from './sequence.ts'

/** Gives committed events their places, for any number of callers in one go; in a few workspaces at a time. */
export interface Sequencer {
  /** Once it resolves, what had been committed before the call has its place. */
  place(workspaceId: string): Promise<void>
  /** Places whatever waits in any workspace, and returns in how many something did. */
  placeAll(): Promise<number>
}

const maxAtOnce = 4

export function createSequencer(db: Db): Sequencer {
  const inTurn = pLimit(maxAtOnce)
  // A run under way may have looked before the caller's commit: then all who come meanwhile share the next.
  const place = singleFlightByKey((workspaceId) => inTurn(() => placeIn(db, workspaceId)))

  return {
    place,
    placeAll: async () => {
      const workspaces = await listUnsequenced(db.sql)
      await Promise.all(workspaces.map(({ id }) => place(id)))
      return workspaces.length
    },
  }
}

async function placeIn(db: Db, workspaceId: string): Promise<void> {
  let placed: number
  do placed = await sequenceEvents(db, workspaceId)
  while (placed === sequenceBatch)
}
