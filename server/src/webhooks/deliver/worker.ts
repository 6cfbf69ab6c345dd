import { coalesce, createBackgroundTasks } from '../../base/async/batch.ts'
import { type Repeat, repeatImmediately } from '../../base/async/loop.ts'
import type { Db, Sql } from '../../base/db.ts'
import { ownSession } from '../../base/lease-session.ts'
import { type ChangedIds, collectChangedIds, type DueWatch, watchDue } from '../../base/pubsub.ts'
import { runStep } from '../../base/steps.ts'
import { erasedTopic } from '../../events/erase.ts'
import { recordedTopic } from '../../events/record.ts'
import type { Sequencer } from '../../events/sequence.ts'
import { sequencedTopic } from '../../events/sequence.ts'
import { dueTopic, hasReplay } from '../endpoint/queue-queries.ts'
import { createSlots, type DeliveryLoopDeps, dropErased, noObserver, type WebhookObserver } from './queue.ts'
import { createQueueLeases, type QueueLeases } from './queue-leases.ts'
import {
  createDeadWorkerReaper,
  type RebalanceRequest,
  rebalanceTopic,
  releasedTopic,
  requestRebalance,
} from './rebalance.ts'
import { createSuccessBatcher } from './record-results.ts'

const limits = { inFlight: 512, failing: 256, unwritten: 128 }
const checkEveryMs = 1000
/** What no news told of: they were lost between two processes that both live. */
const checkAllEveryMs = 5000
const checkDeadEveryMs = 100
const rebalanceEveryMs = 500
/** Whoever has claimed a queue after news keeps it for longer. */
const activeForMs = 1500
const renewEveryMs = 5000
/** Of a busy workspace several commits are placed together: each placing is a transaction beside theirs. */
const sequencingPauseMs = 10

export interface DeliveryWorker {
  /** Sends whatever is due until there is nothing left to do now: for tests, which drive the clock. */
  drain(): Promise<void>
  start(): void
  /** Lets requests that are in flight end, for a few seconds, and gives everything back to other workers. */
  stop(): Promise<void>
}

export interface WorkerDeps
  extends Omit<DeliveryLoopDeps, 'observe' | 'random' | 'step' | 'slots' | 'saveSuccesses' | 'maxInMemory'> {
  sequencer: Sequencer
  observe?: WebhookObserver
  /** In 0…1, for the jitter of retries. */
  random?: () => number
  step?: DeliveryLoopDeps['step']
  /** How it looks for what no news told of. */
  repeat?: Repeat
}

/** Sends events to the endpoints of all workspaces, together with any number of other workers. */
export function createDeliveryWorker(options: WorkerDeps): DeliveryWorker {
  const slots = createSlots(limits, () => leases.count())
  const saveSuccesses = createSuccessBatcher(options.db)
  const deps = { observe: noObserver, random: Math.random, step: runStep, ...options, slots, saveSuccesses }
  let isStarted = false
  const watch = watchDue(deps, {
    nextAt: (now) => readNextDue(deps.db.sql, now),
    pollEveryMs: checkAllEveryMs,
    watchedTopics: [{ topic: dueTopic }],
  })
  const leases = createQueueLeases(deps, () => isStarted, watch.checkAgain)
  let stopLooking = async () => {}

  return {
    drain: async () => {
      for (;;) {
        const sequenced = await deps.sequencer.sequenceAll()
        const claimed = await leases.claim('all')
        await leases.done()
        if (sequenced === 0 && claimed === 0) return
      }
    },
    start: () => {
      isStarted = true
      const unsequenced = collectChangedIds(deps, { topics: [], allEveryMs: checkAllEveryMs })
      const stopListening = listen(deps, leases, unsequenced)
      const stopPolling = poll(deps, leases, { watch, unsequenced })
      stopLooking = async () => {
        await Promise.all([stopListening(), stopPolling()])
      }
    },
    stop: async () => {
      isStarted = false
      // Together: no request is to leave while the loops come to their ends.
      await Promise.all([leases.stop(), stopLooking()])
    },
  }
}

/** Acts on news at once. */
function listen(deps: WorkerDeps, leases: QueueLeases, unsequenced: ChangedIds): () => Promise<void> {
  const { db, clock, log, sequencer } = deps
  const backgroundTasks = createBackgroundTasks()
  const sequencing = coalesce<string>({
    restMs: sequencingPauseMs,
    work: sequencer.sequence,
    onError: (error, workspaceId) => {
      unsequenced.takeAllNext()
      log.warn('failed to sequence events; retrying', { workspaceId }, error)
    },
  })
  const claiming = coalesce<string>({
    work: (_, workspaceIds) => leases.claim(workspaceIds),
    onError: (error) => log.warn('failed to claim webhook queues; retrying', {}, error),
  })
  const claimIn = (workspaceId: string) => claiming.add('all', workspaceId)
  const onSequenced = (workspaceId: string) => {
    for (const queue of leases.heldIn(workspaceId)) {
      queue.mayHaveMore = true
      queue.signal.wake()
    }
    claimIn(workspaceId)
  }
  const onDue = (workspaceId: string) => {
    const queues = leases.heldIn(workspaceId)
    for (const queue of queues) queue.retryAt = clock.now()
    backgroundTasks.run(
      () => leases.renew(queues),
      (error) => log.warn('failed to check webhook endpoints; retrying', {}, error),
    )
    claimIn(workspaceId)
  }
  const stop = subscribeAll(db, [
    [recordedTopic, (workspaceId) => sequencing.add(workspaceId, workspaceId)],
    [sequencedTopic, onSequenced],
    [dueTopic, onDue],
    [releasedTopic, claimIn],
    [erasedTopic, (subjectId) => dropErased(leases.held(), subjectId)],
    [rebalanceTopic, (request) => leases.give(JSON.parse(request) as RebalanceRequest)],
  ])
  return async () => {
    stop()
    await Promise.all([backgroundTasks.close(), sequencing.close(), claiming.close()])
  }
}

function subscribeAll(db: Db, listeners: readonly [topic: string, listener: (id: string) => void][]): () => void {
  const stops = listeners.map(([topic, listener]) => db.subscribe(topic, listener))
  return () => {
    for (const stop of stops) stop()
  }
}

interface PollSources {
  /** For what time alone makes ready. */
  watch: DueWatch
  /** For events without a place that no news told of. */
  unsequenced: ChangedIds
}

/** Looks from time to time as well: news may be lost. */
function poll(deps: WorkerDeps, leases: QueueLeases, { watch, unsequenced }: PollSources): () => Promise<void> {
  const { db, clock, log, sequencer, repeat = repeatImmediately } = deps
  const changedIds = collectChangedIds({ db, clock }, { topics: [], allEveryMs: checkAllEveryMs })
  const recentActivity = watchActivity(deps)
  let heldByOthers = 0
  // Of others that hold nothing no death is missed.
  let endOfDead: (() => Promise<number>) | null = null
  const loop = (pauseMs: number, work: () => Promise<unknown>) =>
    repeat(pauseMs, work, (error) => log.warn('failed to poll for due webhooks; retrying', {}, error))
  const loops = [
    loop(checkEveryMs, async () => {
      if (unsequenced.take() !== null) return
      await sequencer.sequenceAll().catch((error) => {
        unsequenced.takeAllNext()
        throw error
      })
    }),
    loop(checkEveryMs, async () => {
      if (changedIds.take() === null) return leases.claim('all')
      const isDue = await watch.isDue()
      if (isDue) recentActivity.note()
      return isDue || leases.hasLeft() ? leases.claim('due') : 0
    }),
    loop(checkDeadEveryMs, async () => {
      if (endOfDead !== null && (await endOfDead()) > 0) await leases.claim('all')
    }),
    loop(rebalanceEveryMs, async () => {
      // Of others that were told of nothing to do, and held nothing, nothing is to be had.
      if (heldByOthers === 0 && leases.count() === 0 && !recentActivity.take()) return
      const before = heldByOthers
      heldByOthers = await requestRebalance(db)
      endOfDead = heldByOthers > 0 ? (endOfDead ?? createDeadWorkerReaper(db)) : null
      // What one that stops has given back may have something left.
      if (heldByOthers < before) await leases.claim('all')
    }),
    loop(renewEveryMs, () => leases.renew(leases.held())),
  ]
  return async () => {
    await Promise.all(loops.map((one) => one.stop()))
  }
}

/** Whether there was lately something to do for any worker. */
function watchActivity({ db, clock }: Pick<WorkerDeps, 'db' | 'clock'>) {
  const topics = [recordedTopic, sequencedTopic, dueTopic, releasedTopic]
  const changedIds = collectChangedIds({ db, clock }, { topics, allEveryMs: checkAllEveryMs })
  let lastActivityMs = Number.NEGATIVE_INFINITY
  const note = () => {
    lastActivityMs = clock.now().getTime()
  }
  return {
    note,
    /** True also from time to time, as news may be lost. */
    take: (): boolean => {
      const changed = changedIds.take()
      if (changed === null) return true
      if (changed.length > 0) note()
      const nowMs = clock.now().getTime()
      return nowMs >= lastActivityMs && nowMs < lastActivityMs + activeForMs
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
