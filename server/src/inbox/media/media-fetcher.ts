import pLimit from 'p-limit'
import { coalesce } from '../../base/async/batch.ts'
import { type Repeat, repeatAfterPause } from '../../base/async/loop.ts'
import { watchDue } from '../../base/pubsub.ts'
import { type FetchDeps, fetchMedia, leaseMs } from './fetch-media.ts'
import { type Claim, claimDue, pendingMediaTopic, readNextDue } from './fetch-queries.ts'

/** Fetches the files that messages carry, together with any number of other processes. */
export interface MediaFetcher {
  /** Fetches whatever is due until there is nothing left to do now: for tests, which drive the clock. */
  drain(): Promise<void>
  start(): void
  /** Breaks off what is under way, and gives it back. */
  stop(): Promise<void>
}

export interface FetcherDeps extends FetchDeps {
  /** How it looks for what no news told of. */
  repeat?: Repeat
  maxConcurrent?: number
  perWorkspace?: number
}

const checkEveryMs = 1_000
/** What another process is to try again, or has left behind. */
const pollEveryMs = 5_000
/** Of a burst several are claimed together. */
const restMs = 10

export function createMediaFetcher(deps: FetcherDeps): MediaFetcher {
  const { db, clock, log, repeat = repeatAfterPause, maxConcurrent = 8, perWorkspace = 4 } = deps
  const running = new Map<string, number>()
  const jobs = new Set<Promise<void>>()
  let ended = 0
  const stopping = new AbortController()
  const one = pLimit(1)
  const onError = (error: unknown) => log.warn('failed to poll for downloads; retrying', {}, error)

  const count = (workspaceId: string, by: number) => {
    const left = (running.get(workspaceId) ?? 0) + by
    if (left === 0) running.delete(workspaceId)
    else running.set(workspaceId, left)
  }
  const startFetch = (claim: Claim) => {
    count(claim.workspaceId, 1)
    const job: Promise<void> = fetchMedia(deps, claim, stopping.signal)
      .catch((error: unknown) => {
        // Its claim lapses, and somebody fetches it again.
        log.warn('failed to record a download result; retrying', { workspaceId: claim.workspaceId }, error)
      })
      .finally(() => {
        jobs.delete(job)
        ended++
        // It may have to be tried again in a second.
        watch.checkAgain()
        count(claim.workspaceId, -1)
        looking.add('all', claim.workspaceId)
      })
    jobs.add(job)
  }
  // One look at a time: two would give the same places away.
  const check = () =>
    one(async () => {
      const free = maxConcurrent - jobs.size
      if (free <= 0 || stopping.signal.aborted) return 0
      const now = clock.now()
      const until = new Date(now.getTime() + leaseMs)
      const claims = await claimDue(db, { free, perWorkspace, running }, now, until)
      claims.forEach(startFetch)
      return claims.length
    })
  const looking = coalesce<string>({ restMs, work: check, onError })
  const watch = watchDue({ db, clock }, { nextAt: () => readNextDue(db.sql), pollEveryMs })
  let stopLooking = async () => {}

  return {
    drain: async () => {
      for (;;) {
        const endedBefore = ended
        const begun = await check()
        if (jobs.size > 0) await Promise.race(jobs)
        // One that ended during the look counted as under way for it, and may have kept it from another of its workspace.
        else if (begun === 0 && ended === endedBefore) return
      }
    },
    start: () => {
      const stopListening = db.subscribe(pendingMediaTopic, (workspaceId) => looking.add('all', workspaceId))
      const loop = repeat(checkEveryMs, async () => (await watch.isDue()) && check(), onError)
      stopLooking = async () => {
        stopListening()
        await loop.stop()
      }
    },
    stop: async () => {
      stopping.abort()
      await stopLooking()
      await looking.close()
      await Promise.all(jobs)
    },
  }
}
