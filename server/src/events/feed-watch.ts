import { coalesce } from '../base/async/batch.ts'
import type { Repeat } from '../base/async/loop.ts'
import type { Db } from '../base/db.ts'
import type { Log } from '../base/log.ts'
import { feedStates } from './feed.ts'
import { recordedTopic } from './record.ts'
import { type Sequencer, sequencedTopic } from './sequence.ts'

export interface Watcher {
  workspaceId: string
  /** Returns the position up to which it has read. */
  position(): number
  /** Called when there may be events after its position. */
  wake(): void
}

/** Wakes the readers of this process when a feed advances: on a notification at once, else by polling every 1.5 s. */
export interface FeedWatch {
  /** Returns a function that removes the watcher. */
  add(watcher: Watcher): () => void
  close(): Promise<void>
}

export interface WatchDeps {
  db: Db
  sequencer: Sequencer
  log: Log
  repeat: Repeat
}

const checkEveryMs = 1_500
/** Milliseconds between sequencing runs of a busy workspace, instead of one per commit. */
const minPauseMs = 20

export function watchFeeds({ db, sequencer, log, repeat }: WatchDeps): FeedWatch {
  const watched = new Map<string, Set<Watcher>>()
  const wake = (workspaceId: string, last = Number.POSITIVE_INFINITY) => {
    for (const watcher of watched.get(workspaceId) ?? []) if (watcher.position() < last) watcher.wake()
  }
  const failedToSequence = (error: unknown, workspaceId: string) =>
    log.warn('failed to sequence events; retrying', { workspaceId }, error)
  const sequencing = coalesce<string>({ minPauseMs, work: sequencer.sequence, onError: failedToSequence })

  // Sequences events here too, so that readers need no worker.
  const stopListening = [
    db.subscribe(
      recordedTopic,
      (workspaceId) => void (watched.has(workspaceId) && sequencing.add(workspaceId, workspaceId)),
    ),
    db.subscribe(sequencedTopic, (workspaceId) => wake(workspaceId)),
  ]
  const check = async () => {
    if (watched.size === 0) return
    for (const { id, last, unplaced } of await feedStates(db.sql, [...watched.keys()])) {
      if (unplaced) await sequencer.sequence(id).catch((error) => failedToSequence(error, id))
      wake(id, unplaced ? undefined : last)
    }
  }
  const checking = repeat(checkEveryMs, check, (error) => log.warn('failed to poll for events; retrying', {}, error))

  return {
    add: (watcher) => {
      const { workspaceId } = watcher
      const all = watched.get(workspaceId) ?? new Set()
      watched.set(workspaceId, all.add(watcher))
      return () => {
        all.delete(watcher)
        if (all.size === 0 && watched.get(workspaceId) === all) watched.delete(workspaceId)
      }
    },
    close: async () => {
      for (const stop of stopListening) stop()
      await Promise.all([checking.stop(), sequencing.close()])
    },
  }
}
