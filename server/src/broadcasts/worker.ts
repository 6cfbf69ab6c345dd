import pLimit from 'p-limit'
import { type Repeat, repeatAfterPause } from '../base/async/loop.ts'
import type { Sql } from '../base/db.ts'
import { ApiError } from '../base/errors.ts'
import { watchDueWork } from '../base/pubsub.ts'
import { inWorkspace } from '../inbox/conversation/conversation.ts'
import { broadcastUpdates, liveUpdatesTopic } from '../team/live-updates.ts'
import { freezePage } from './audience.ts'
import { type Broadcast, lockBroadcast, selectBroadcasts, storeBroadcast } from './broadcast.ts'
import { claimRecipients } from './claim-recipients.ts'
import { refreshEveryMs, refreshResults } from './results.ts'
import { reread, type SendBroadcastDeps, sendBatch } from './send-due.ts'

const pauseMs = 500
/** Work that is due later than this after its change needs no message. */
const pollEveryMs = 60_000
const workspacesAtOnce = 4
/** Lease of a process; for some pages of leads, or for reading results. */
const leaseMs = 60_000
const pagesAtOnce = 10

export interface BroadcastWorker {
  /** Does all that is due now. For tests, which control the clock. */
  drain(): Promise<void>
  start(): void
  /** Lets running sends finish. */
  stop(): Promise<void>
}

type WorkerDeps = SendBroadcastDeps & { repeat?: Repeat | undefined }

/** Creates a worker that freezes audiences, sends broadcasts and reads their results. Any number can run together. */
export function createBroadcastWorker(deps: WorkerDeps): BroadcastWorker {
  const { db, clock, log } = deps.sends
  const limit = pLimit(workspacesAtOnce)
  const busy = new Map<string, Promise<boolean>>()
  let isStopping = false
  // One step of a workspace, then it is the turn of the others: a large broadcast does not keep them waiting.
  const begin = (workspaceId: string): Promise<boolean> => {
    const work = limit(async () => !isStopping && (await doNext(deps, workspaceId)))
      .catch((error: unknown) => {
        log.warn('failed to work on a broadcast; retrying in 1 min', { workspaceId }, error)
        return false
      })
      .finally(() => busy.delete(workspaceId))
    busy.set(workspaceId, work)
    return work
  }
  const beginDue = async (): Promise<Promise<boolean>[]> => {
    const workspaceIds = await listDue(db.sql, clock.now())
    return workspaceIds.filter((id) => !busy.has(id)).map(begin)
  }
  let stopLoop = async () => {}
  return {
    drain: async () => {
      while ((await Promise.all(await beginDue())).some(Boolean));
    },
    start: () => {
      const topics = [{ topic: liveUpdatesTopic, isRelevant: broadcastUpdates }]
      const due = watchDueWork(
        { db, clock },
        { nextAt: () => nextDueAt(db.sql), pollEveryMs, minPauseMs: pauseMs, watchedTopics: topics },
      )
      const onError = (error: unknown) => log.warn('failed to poll for broadcasts; retrying', {}, error)
      const { repeat = repeatAfterPause } = deps
      const loop = repeat(pauseMs, async () => void ((await due.isDue()) && (await beginDue())), onError)
      stopLoop = () => loop.stop()
    },
    stop: async () => {
      isStopping = true
      await stopLoop()
      await Promise.all(busy.values())
    },
  }
}

async function nextDueAt(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select min(next_at) as at
    from broadcasts
    where next_at is not null`
  return row?.at ?? null
}

async function listDue(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select workspace_id as id
    from broadcasts
    where next_at <= ${now}
    group by workspace_id
    order by min(next_at)
    limit 100`
  return rows.map(({ id }) => id)
}

/** Takes the first due broadcast of a workspace and does its next step. Returns false if other processes have all. */
async function doNext(deps: SendBroadcastDeps, workspaceId: string): Promise<boolean> {
  const taken = await deps.step('claim', () => takeNext(deps, workspaceId))
  if (taken === null) return false
  const { broadcast, recipients } = taken
  const { state, startedAt } = broadcast
  if (state === 'collecting') {
    await freeze(deps, broadcast)
    return true
  }
  if (recipients.length > 0) await sendBatch(deps, broadcast, recipients)
  if (startedAt !== null && (state !== 'running' || isStale(deps, broadcast))) {
    const refresh = async () => refreshResults(deps, await reread(deps, broadcast))
    await deps.step('refresh', () => deps.sends.db.inBulk(refresh))
  }
  return true
}

const isStale = ({ sends }: SendBroadcastDeps, { resultsAt }: Broadcast): boolean =>
  resultsAt === null || sends.clock.now().getTime() - resultsAt.getTime() >= refreshEveryMs

/** In one transaction: with a lease, or of a running one with the recipients that the pace allows. */
function takeNext({ sends }: SendBroadcastDeps, workspaceId: string) {
  return inWorkspace(sends, workspaceId, async (work) => {
    const { tx, keyring, now } = work
    const [broadcast] = await selectBroadcasts(
      tx,
      keyring,
      workspaceId,
      tx`and b.next_at <= ${now} order by b.next_at limit 1 for update skip locked`,
    )
    if (broadcast === undefined) return null
    if (broadcast.state === 'running') return { broadcast, recipients: await claimRecipients(work, broadcast) }
    if (broadcast.state === 'scheduled') {
      await storeBroadcast(work, broadcast, { state: 'running', startedAt: now, nextAt: now })
      return { broadcast, recipients: [] }
    }
    await tx`
      update broadcasts
      set next_at = ${new Date(now.getTime() + leaseMs)}
      where workspace_id = ${workspaceId}
        and id = ${broadcast.id}`
    return { broadcast, recipients: [] }
  })
}

/** Freezes some pages. A filter by which the leads cannot be found any more ends it. */
async function freeze(deps: SendBroadcastDeps, broadcast: Broadcast): Promise<void> {
  const { sends, step } = deps
  const change = (changes: Parameters<typeof storeBroadcast>[2]) =>
    inWorkspace(sends, broadcast.workspaceId, async (work) => {
      const current = await lockBroadcast(work, broadcast.id)
      if (current.state === 'collecting') await storeBroadcast(work, current, changes)
    })
  try {
    let current = broadcast
    for (let page = 1; page <= pagesAtOnce; page++) {
      const hasMore = await step('freeze', () => sends.db.inBulk(() => freezePage(deps, current)))
      if (!hasMore) return
      current = await reread(deps, current)
    }
    await change({ nextAt: sends.clock.now() })
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode >= 500 || error.data?.code === 'LIST_NOT_READY') throw error
    await change({ state: 'draft', reason: 'filter', cursor: null, startedAt: null, nextAt: null })
  }
}
