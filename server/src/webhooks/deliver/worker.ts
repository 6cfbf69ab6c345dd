import { coalesce, openErrands } from '../../base/async/batch.ts'
import { type Repeat, repeatAtOnce } from '../../base/async/loop.ts'
import type { Db, Sql } from '../../base/db.ts'
import { ownSession } from '../../base/lease-session.ts'
import { type DueWatch, type HeardNews, hearNews, watchDue } from '../../base/news.ts'
import { runStep } from '../../base/steps.ts'
import { erasedTopic } from '../../events/erase.ts'
import { recordedTopic } from '../../events/record.ts'
import type { Sequencer } from '../../events/sequence.ts'
import { sequencedTopic } from '../../events/sequence.ts'
import { dueTopic, hasReplay } from '../endpoint/queue-queries.ts'
import { createHolder, type Holder } from './holder.ts'
import { createSlots, forgetErased, noObserver, type PumpDeps, type WebhookObserver } from './queue.ts'
import { askForRebalance, askTopic, createDeadWorkerReaper, givenTopic, type RebalanceRequest } from './rebalance.ts'
import { createSuccessBatcher } from './settle.ts'

const limits = { inFlight: 512, failing: 256, unwritten: 128 }
const lookEveryMs = 1000
/** What no news told of: they were lost between two processes that both live. */
const lookAtAllEveryMs = 5000
const lookForDeadEveryMs = 100
const askEveryMs = 500
/** Whoever has claimed a queue after news keeps it for longer. */
const stirredForMs = 1500
const renewEveryMs = 5000
/** Of a busy workspace several commits are placed together: each placing is a transaction beside theirs. */
const placingRestMs = 10

export interface DeliveryWorker {
  /** Sends whatever is due until there is nothing left to do now: for tests, which drive the clock. */
  drain(): Promise<void>
  start(): void
  /** Lets requests that are in flight end, for a few seconds, and gives everything back to other workers. */
  stop(): Promise<void>
}

export interface WorkerDeps
  extends Omit<PumpDeps, 'observe' | 'random' | 'step' | 'slots' | 'saveSuccesses' | 'maxInMemory'> {
  sequencer: Sequencer
  observe?: WebhookObserver
  /** In 0…1, for the jitter of retries. */
  random?: () => number
  step?: PumpDeps['step']
  /** How it looks for what no news told of. */
  repeat?: Repeat
}

/** Sends events to the endpoints of all workspaces, together with any number of other workers. */
export function createDeliveryWorker(given: WorkerDeps): DeliveryWorker {
  const slots = createSlots(limits, () => holder.count())
  const saveSuccesses = createSuccessBatcher(given.db)
  const deps = { observe: noObserver, random: Math.random, step: runStep, ...given, slots, saveSuccesses }
  let isStarted = false
  const watch = watchDue(deps, {
    nextAt: (now) => readNextDue(deps.db.sql, now),
    askEveryMs: lookAtAllEveryMs,
    news: [{ topic: dueTopic }],
  })
  const holder = createHolder(deps, () => isStarted, watch.askAgain)
  let stopLooking = async () => {}

  return {
    drain: async () => {
      for (;;) {
        const placed = await deps.sequencer.placeAll()
        const claimed = await holder.claim('all')
        await holder.done()
        if (placed === 0 && claimed === 0) return
      }
    },
    start: () => {
      isStarted = true
      const unplaced = hearNews(deps, { topics: [], allEveryMs: lookAtAllEveryMs })
      const stopListening = listen(deps, holder, unplaced)
      const stopPolling = poll(deps, holder, { watch, unplaced })
      stopLooking = async () => {
        await Promise.all([stopListening(), stopPolling()])
      }
    },
    stop: async () => {
      isStarted = false
      // Together: no request is to leave while the loops come to their ends.
      await Promise.all([holder.stop(), stopLooking()])
    },
  }
}

/** Acts on news at once. */
function listen(deps: WorkerDeps, holder: Holder, unplaced: HeardNews): () => Promise<void> {
  const { db, clock, log, sequencer } = deps
  const errands = openErrands()
  const placing = coalesce<string>({
    restMs: placingRestMs,
    work: sequencer.place,
    onError: (error, workspaceId) => {
      unplaced.missed()
      log.error('events not placed', { workspaceId }, error)
    },
  })
  const claiming = coalesce<string>({
    work: (_, workspaceIds) => holder.claim(workspaceIds),
    onError: (error) => log.error('webhooks not claimed', {}, error),
  })
  const lookAt = (workspaceId: string) => claiming.add('all', workspaceId)
  const onPlaced = (workspaceId: string) => {
    for (const queue of holder.heldIn(workspaceId)) {
      queue.mayHaveMore = true
      queue.signal.wake()
    }
    lookAt(workspaceId)
  }
  const onDue = (workspaceId: string) => {
    const queues = holder.heldIn(workspaceId)
    for (const queue of queues) queue.retryAt = clock.now()
    errands.run(
      () => holder.renew(queues),
      (error) => log.error('webhook endpoints not looked at', {}, error),
    )
    lookAt(workspaceId)
  }
  const stop = allOf(db, [
    [recordedTopic, (workspaceId) => placing.add(workspaceId, workspaceId)],
    [sequencedTopic, onPlaced],
    [dueTopic, onDue],
    [givenTopic, lookAt],
    [erasedTopic, (subjectId) => forgetErased(holder.held(), subjectId)],
    [askTopic, (ask) => holder.give(JSON.parse(ask) as RebalanceRequest)],
  ])
  return async () => {
    stop()
    await Promise.all([errands.close(), placing.close(), claiming.close()])
  }
}

function allOf(db: Db, listeners: readonly [topic: string, listener: (id: string) => void][]): () => void {
  const stops = listeners.map(([topic, listener]) => db.onNews(topic, listener))
  return () => {
    for (const stop of stops) stop()
  }
}

interface Looks {
  /** For what time alone makes ready. */
  watch: DueWatch
  /** For events without a place that no news told of. */
  unplaced: HeardNews
}

/** Looks from time to time as well: news may be lost. */
function poll(deps: WorkerDeps, holder: Holder, { watch, unplaced }: Looks): () => Promise<void> {
  const { db, clock, log, sequencer, repeat = repeatAtOnce } = deps
  const heard = hearNews({ db, clock }, { topics: [], allEveryMs: lookAtAllEveryMs })
  const stir = watchStir(deps)
  let heldByOthers = 0
  // Of others that hold nothing no death is missed.
  let endOfDead: (() => Promise<number>) | null = null
  const loop = (pauseMs: number, work: () => Promise<unknown>) =>
    repeat(pauseMs, work, (error) => log.error('webhooks not looked for', {}, error))
  const loops = [
    loop(lookEveryMs, async () => {
      if (unplaced.take() !== null) return
      await sequencer.placeAll().catch((error) => {
        unplaced.missed()
        throw error
      })
    }),
    loop(lookEveryMs, async () => {
      if (heard.take() === null) return holder.claim('all')
      const isDue = await watch.isDue()
      if (isDue) stir.note()
      return isDue || holder.hasLeft() ? holder.claim('due') : 0
    }),
    loop(lookForDeadEveryMs, async () => {
      if (endOfDead !== null && (await endOfDead()) > 0) await holder.claim('all')
    }),
    loop(askEveryMs, async () => {
      // Of others that were told of nothing to do, and held nothing, nothing is to be had.
      if (heldByOthers === 0 && holder.count() === 0 && !stir.take()) return
      const before = heldByOthers
      heldByOthers = await askForRebalance(db)
      endOfDead = heldByOthers > 0 ? (endOfDead ?? createDeadWorkerReaper(db)) : null
      // What one that stops has given back may have something left.
      if (heldByOthers < before) await holder.claim('all')
    }),
    loop(renewEveryMs, () => holder.renew(holder.held())),
  ]
  return async () => {
    await Promise.all(loops.map((one) => one.stop()))
  }
}

/** Whether there was lately something to do for any worker. */
function watchStir({ db, clock }: Pick<WorkerDeps, 'db' | 'clock'>) {
  const topics = [recordedTopic, sequencedTopic, dueTopic, givenTopic]
  const news = hearNews({ db, clock }, { topics, allEveryMs: lookAtAllEveryMs })
  let stirredAtMs = Number.NEGATIVE_INFINITY
  const note = () => {
    stirredAtMs = clock.now().getTime()
  }
  return {
    note,
    /** True also from time to time, as news may be lost. */
    take: (): boolean => {
      const heard = news.take()
      if (heard === null) return true
      if (heard.length > 0) note()
      const nowMs = clock.now().getTime()
      return nowMs >= stirredAtMs && nowMs < stirredAtMs + stirredForMs
    },
  }
}

/**
 * When time alone makes the first queue ready that this process does not hold, as `due` finds them; null when there is none
 * that waits for that.
 */
async function readNextDue(sql: Sql, now: Date): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select min(
      coalesce(
        greatest(
          case
            when q.lease_owner is not null or q.lease_session <> ${ownSession(sql)}
            then ${now}::timestamptz + (q.lease_until - clock_timestamp())
          end,
          q.paused_until,
          case when q.cursor >= coalesce(f.last_position, 0) and not ${hasReplay(sql, null)} then q.retry_at end
        ),
        ${now}
      )
    ) as at
    from webhook_queues q
    join webhook_endpoints e
      on e.workspace_id = q.workspace_id
      and e.id = q.endpoint_id
    left join event_feeds f on f.workspace_id = q.workspace_id
    where (q.retry_at is not null or q.paused_until is not null or q.lease_session is not null)
      and not coalesce(q.lease_owner is not null and q.lease_session = ${ownSession(sql)}, false)
      and e.state = 'active'
      and e.removed_at is null
      and (q.retry_at is not null or q.cursor < f.last_position or ${hasReplay(sql, null)})`
  return row?.at ?? null
}
