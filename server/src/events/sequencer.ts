import type { Db } from '../base/db.ts'
import { listUnsequenced, sequenceBatch, sequenceEvents } from './sequence.ts'

/** Gives committed events their places, for any number of callers in one go; in a few workspaces at a time. */
export interface Sequencer {
  /** Once it resolves, what had been committed before the call has its place. */
  place(workspaceId: string): Promise<void>
  /** Places whatever waits in any workspace, and returns in how many something did. */
  placeAll(): Promise<number>
}

interface Run {
  now: Promise<void>
  next: Promise<void> | null
}

const maxAtOnce = 4

export function createSequencer(db: Db): Sequencer {
  const runs = new Map<string, Run>()
  const inTurn = turns(maxAtOnce)

  const begin = (workspaceId: string): Promise<void> => {
    const run: Run = { now: inTurn(() => placeIn(db, workspaceId)), next: null }
    runs.set(workspaceId, run)
    const forget = () => void (run.next === null && runs.delete(workspaceId))
    run.now.then(forget, forget)
    return run.now
  }
  const place = (workspaceId: string): Promise<void> => {
    const run = runs.get(workspaceId)
    if (run === undefined) return begin(workspaceId)
    // The run under way may have looked before the caller's commit, so that all who come meanwhile share the next.
    const onward = () => begin(workspaceId)
    run.next ??= run.now.then(onward, onward)
    return run.next
  }

  return {
    place,
    placeAll: async () => {
      const workspaceIds = await listUnsequenced(db.sql)
      await Promise.all(workspaceIds.map(place))
      return workspaceIds.length
    },
  }
}

async function placeIn(db: Db, workspaceId: string): Promise<void> {
  let placed: number
  do placed = await sequenceEvents(db, workspaceId)
  while (placed === sequenceBatch)
}

/** Runs at most so much at once; the rest waits in line. */
function turns(most: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running === most) await new Promise<void>((resolve) => void waiting.push(resolve))
    else running++
    try {
      await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
