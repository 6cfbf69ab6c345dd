import pLimit from 'p-limit'
import { coalesce } from '../../base/async/batch.ts'
import { type Repeat, repeatAfterPause } from '../../base/async/loop.ts'
import { watchDueWork } from '../../base/pubsub.ts'
import { type FetchDeps, fetchMedia, leaseMs } from './fetch-media.ts'
import { type Claim, claimDue, pendingMediaTopic, readNextDue } from './fetch-queries.ts'

/** Downloads the files of messages; several processes share the work. */
export interface MediaFetcher {
  /** Downloads everything that is due now. For tests, which control the clock. */
  drain(): Promise<void>
  start(): void
  /** Aborts downloads in progress and releases their claims. */
  stop(): Promise<void>
}

export interface FetcherDeps extends FetchDeps {
  /** Polling, for files that no pub/sub message announced. */
  repeat?: Repeat
  maxConcurrent?: number
  perWorkspace?: number
}

const checkEveryMs = 1_000
/** Finds retries and expired claims of other processes. */
const pollEveryMs = 5_000
/** Delay that lets one query claim several files of a burst. */
const minPauseMs = 10

export function createMediaFetcher(deps: FetcherDeps): MediaFetcher {
  const { db, clock, log, repeat = repeatAfterPause, maxConcurrent = 8, perWorkspace = 4 } = deps
  const running = new Map<string, number>()
  const jobs = new Set<Promise<void>>()
  let endedCount = 0
  const stopping = new AbortController()
  const exclusive = pLimit(1)
  const onError = (error: unknown) => log.warn('failed to poll for downloads; retrying', {}, error)

  const addRunning = (workspaceId: string, by: number) => {
    const left = (running.get(workspaceId) ?? 0) + by
    if (left === 0) running.delete(workspaceId)
    else running.set(workspaceId, left)
  }
  const startFetch = (claim: Claim) => {
    addRunning(claim.workspaceId, 1)
    const job: Promise<void> = fetchMedia(deps, claim, stopping.signal)
      .catch((error: unknown) => {
        // The claim expires and another process retries.
        log.warn('failed to record a download result; retrying', { workspaceId: claim.workspaceId }, error)
      })
      .finally(() => {
        jobs.delete(job)
        endedCount++
        // A retry may be due in a second.
        watch.checkAgain()
        addRunning(claim.workspaceId, -1)
        checks.add('all', claim.workspaceId)
      })
    jobs.add(job)
  }
  // One check at a time: concurrent ones would fill the same slots twice.
  const check = () =>
    exclusive(async () => {
      const free = maxConcurrent - jobs.size
      if (free <= 0 || stopping.signal.aborted) return 0
      const now = clock.now()
      const until = new Date(now.getTime() + leaseMs)
      const claims = await claimDue(db, { free, perWorkspace, running }, now, until)
      claims.forEach(startFetch)
      return claims.length
    })
  const checks = coalesce<string>({ minPauseMs, work: check, onError })
  const watch = watchDueWork({ db, clock }, { nextAt: () => readNextDue(db.sql), pollEveryMs })
  let stopChecks = async () => {}

  return {
    drain: async () => {
      for (;;) {
        const endedBefore = endedCount
        const startedCount = await check()
        if (jobs.size > 0) await Promise.race(jobs)
        // A fetch that ended during the check still occupied a slot and may have blocked another of its workspace.
        else if (startedCount === 0 && endedCount === endedBefore) return
      }
    },
    start: () => {
      const stopListening = db.subscribe(pendingMediaTopic, (workspaceId) => checks.add('all', workspaceId))
      const loop = repeat(checkEveryMs, async () => (await watch.isDue()) && check(), onError)
      stopChecks = async () => {
        stopListening()
        await loop.stop()
      }
    },
    stop: async () => {
      stopping.abort()
      await stopChecks()
      await checks.close()
      await Promise.all(jobs)
    },
  }
}
