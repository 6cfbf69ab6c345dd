import { coalesce, createBackgroundTasks } from '../../base/async/batch.ts'
import { type Repeat, repeatImmediately } from '../../base/async/loop.ts'
import type { Sql } from '../../base/db.ts'
import { ownSession } from '../../base/lease-session.ts'
import { type ChangedIds, collectChangedIds, type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { runStep } from '../../base/run-step.ts'
import { erasedTopic } from '../../events/erase.ts'
import { recordedTopic } from '../../events/record.ts'
import { type Sequencer, sequencedTopic } from '../../events/sequence.ts'
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
/** Interval of full checks, in case notifications were lost. */
const checkAllEveryMs = 5000
const checkDeadEveryMs = 100
const rebalanceEveryMs = 500
/** Time after activity in which this worker requests queues from others. */
const activeForMs = 1500
const renewEveryMs = 5000
/** Delay that lets several commits of a busy workspace share one sequencing transaction. */
const sequencingPauseMs = 10

export interface DeliveryWorker {
  /** Sends all due deliveries until nothing is left to do now. For tests, which control the clock. */
  drain(): Promise<void>
  start(): void
  /** Lets running requests finish, for some seconds, and releases all queues. */
  stop(): Promise<void>
}

export interface WorkerDeps
  extends Omit<DeliveryLoopDeps, 'observe' | 'random' | 'step' | 'slots' | 'saveSuccesses' | 'maxInMemory'> {
  sequencer: Sequencer
  observe?: WebhookObserver
  /** Returns 0 to 1, for the jitter of retries. */
  random?: () => number
  step?: DeliveryLoopDeps['step']
  /** Schedules the polling loops. */
  repeat?: Repeat
}

/** Creates a worker that sends events to the endpoints of all workspaces. Any number of workers can run together. */
export function createDeliveryWorker(options: WorkerDeps): DeliveryWorker {
  const slots = createSlots(limits, () => leases.count())
  const saveSuccesses = createSuccessBatcher(options.db)
  const deps = { observe: noObserver, random: Math.random, step: runStep, ...options, slots, saveSuccesses }
  let isStarted = false
  const watch = watchDueWork(deps, {
    nextAt: (now) => readNextDue(deps.db.sql, now),
    pollEveryMs: checkAllEveryMs,
    watchedTopics: [{ topic: dueTopic }],
  })
  const leases = createQueueLeases(deps, () => isStarted, watch.checkAgain)
  let stopLoops = async () => {}

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
      const unsubscribe = handleNotifications(deps, leases, unsequenced)
      const stopPolling = poll(deps, leases, { watch, unsequenced })
      stopLoops = async () => {
        await Promise.all([unsubscribe(), stopPolling()])
      }
    },
    stop: async () => {
      isStarted = false
      // In parallel: no request may start while the loops finish.
      await Promise.all([leases.stop(), stopLoops()])
    },
  }
}

function handleNotifications(deps: WorkerDeps, leases: QueueLeases, unsequenced: ChangedIds): () => Promise<void> {
  const { db, clock, log, sequencer } = deps
  const backgroundTasks = createBackgroundTasks()
  const sequencing = coalesce<string>({
    minPauseMs: sequencingPauseMs,
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
  const stopListening = [
    db.subscribe(recordedTopic, (workspaceId) => sequencing.add(workspaceId, workspaceId)),
    db.subscribe(sequencedTopic, onSequenced),
    db.subscribe(dueTopic, onDue),
    db.subscribe(releasedTopic, claimIn),
    db.subscribe(erasedTopic, (subjectId) => dropErased(leases.held(), subjectId)),
    db.subscribe(rebalanceTopic, (request) => leases.transfer(JSON.parse(request) as RebalanceRequest)),
  ]
  return async () => {
    for (const stop of stopListening) stop()
    await Promise.all([backgroundTasks.close(), sequencing.close(), claiming.close()])
  }
}

interface PollSources {
  /** Reports work that becomes due by time alone. */
  watch: DueWatch
  /** Reports when to sequence events whose notification was lost. */
  unsequenced: ChangedIds
}

/** Polls as well, because notifications can be lost. */
function poll(deps: WorkerDeps, leases: QueueLeases, { watch, unsequenced }: PollSources): () => Promise<void> {
  const { db, clock, log, sequencer, repeat = repeatImmediately } = deps
  const changedIds = collectChangedIds({ db, clock }, { topics: [], allEveryMs: checkAllEveryMs })
  const recentActivity = watchActivity(deps)
  let heldByOthers = 0
  // Runs only while other workers hold queues.
  let endDeadLeases: (() => Promise<number>) | null = null
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
      if (endDeadLeases !== null && (await endDeadLeases()) > 0) await leases.claim('all')
    }),
    loop(rebalanceEveryMs, async () => {
      // Without activity or held queues there is nothing to rebalance.
      if (heldByOthers === 0 && leases.count() === 0 && !recentActivity.take()) return
      const before = heldByOthers
      heldByOthers = await requestRebalance(db)
      endDeadLeases = heldByOthers > 0 ? (endDeadLeases ?? createDeadWorkerReaper(db)) : null
      // A worker that has stopped may have left work in its queues.
      if (heldByOthers < before) await leases.claim('all')
    }),
    loop(renewEveryMs, () => leases.renew(leases.held())),
  ]
  return async () => {
    await Promise.all(loops.map((one) => one.stop()))
  }
}

/** Tracks whether there was recent work for any worker. */
function watchActivity({ db, clock }: Pick<WorkerDeps, 'db' | 'clock'>) {
  const topics = [recordedTopic, sequencedTopic, dueTopic, releasedTopic]
  const changedIds = collectChangedIds({ db, clock }, { topics, allEveryMs: checkAllEveryMs })
  let lastActivityMs = Number.NEGATIVE_INFINITY
  const note = () => {
    lastActivityMs = clock.now().getTime()
  }
  return {
    note,
    /** Also returns true at intervals, because notifications can be lost. */
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
 * Returns the time when the first queue that this process does not hold becomes claimable by time alone, as the scope
 * `due` finds it; null if there is none.
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
