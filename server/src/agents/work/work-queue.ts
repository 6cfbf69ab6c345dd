import pLimit from 'p-limit'
import { rejectKey } from '../../auth/api-keys/caller.ts'
import { singleFlight } from '../../base/async/batch.ts'
import { createSignal, type Repeat } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Log } from '../../base/log.ts'
import type { FeedWatch } from '../../events/feed-watch.ts'
import { createWaitLimit } from '../../events/long-poll.ts'
import type { Sequencer } from '../../events/sequence.ts'
import { opaqueWorkspaceId } from '../../inbox/conversation/queries.ts'
import { feedRange } from './due-work.ts'
import { type KeyStatus, readWork, type WorkPage } from './read-work.ts'
import { type WorkCursor, workEvents } from './work-cursor.ts'

interface WorkQueueDeps extends WorkWatchDeps {
  keyStore: KeyStore
  clock: Clock
  sequencer: Sequencer
  /** Wakes a wait at the end of a quiet time. */
  repeat: Repeat
}

interface WorkWait {
  workspaceId: string
  keyId: string
  from: WorkCursor | null
  limit: number
  waitMs: number
  /** Aborts when the client disconnects. */
  signal: AbortSignal
}

export interface WorkResult extends Pick<WorkPage, 'work' | 'hasMore' | 'isNew' | 'keyStatus'> {
  /** Null: start from the beginning. */
  cursor: WorkCursor | null
}

/** Requests that wait for work. They hold no database connection while they wait. */
export interface WorkQueue {
  /** Returns the key's next work; empty on timeout or if agents are stopped meanwhile. Throws 401 if the key ends. */
  wait(wait: WorkWait): Promise<WorkResult>
  /** Rechecks the access of waiting requests after a change of a key or of workspace settings. */
  recheckKey(keyId: string): void
  recheckWorkspace(workspaceId: string): void
  /** Rechecks all waiting requests, after changes may have been missed. */
  recheckAll(): void
  /** Ends all waits at once with the current results. */
  close(): void
}

/** Concurrent reads, when all requests of a workspace wake at once. */
const maxConcurrentReads = 8
/** Reads after the timeout: a cursor far behind needs several reads to reach the end of the feed. */
const maxSteps = 5

export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const acquireWait = createWaitLimit('Call wait_for_work again in a few seconds, or with `wait` 0.')
  const watch = watchWork(deps)
  const limitReads = pLimit(maxConcurrentReads)
  const ends = new Set<() => void>()
  const read: ReadWork = (wait, from, isFirst) => {
    const { workspaceId, keyId, limit } = wait
    const readOnce = () =>
      deps.keyStore.withKeyring(workspaceId, (keyring) =>
        readWork(deps.db, keyring, { workspaceId, keyId, from, limit, now: deps.clock.now() }, isFirst),
      )
    return isFirst ? readOnce() : limitReads(readOnce)
  }
  return {
    wait: async (wait) => {
      const end = Promise.withResolvers<void>()
      if (wait.waitMs === 0) return waitUntilWorkOrEnd({ ...deps, read, watch }, wait, Promise.resolve())
      const release = acquireWait(wait.keyId)
      const timer = setTimeout(end.resolve, wait.waitMs)
      const abort = () => end.resolve()
      wait.signal.addEventListener('abort', abort, { once: true })
      if (wait.signal.aborted) abort()
      ends.add(end.resolve)
      try {
        return await waitUntilWorkOrEnd({ ...deps, read, watch }, wait, end.promise)
      } finally {
        ends.delete(end.resolve)
        wait.signal.removeEventListener('abort', abort)
        clearTimeout(timer)
        release()
      }
    },
    recheckKey: watch.wakeKey,
    recheckWorkspace: watch.wakeWorkspace,
    recheckAll: watch.wakeAll,
    close: () => {
      for (const end of ends) end()
    },
  }
}

type ReadWork = (wait: WorkWait, from: WorkCursor | null, isFirst: boolean) => Promise<WorkPage>

interface WaitLoopDeps extends Pick<WorkQueueDeps, 'sequencer' | 'clock' | 'repeat'> {
  read: ReadWork
  watch: WorkWatch
}

async function waitUntilWorkOrEnd(
  { sequencer, clock, repeat, read, watch }: WaitLoopDeps,
  wait: WorkWait,
  end: Promise<void>,
): Promise<WorkResult> {
  let isOver = wait.waitMs === 0
  end.then(() => {
    isOver = true
  })
  const newWork = createSignal()
  const waiter: Waiter = { keyId: wait.keyId, position: null, isBehind: false, wake: newWork.wake }
  const stop = watch.add(wait.workspaceId, waiter)
  try {
    let from = wait.from
    let isNew = false
    let steps = 0
    for (let initialStatus: KeyStatus | null = null; ; ) {
      // Subscribes before the read: a wake during it can be for an event that the read does not see.
      const woken = newWork.next()
      waiter.isBehind = false
      if (!Number.isFinite(waiter.position)) waiter.position = null
      const page = await read(wait, from, initialStatus === null)
      const { keyStatus } = page
      if (!keyStatus.isActive) throw rejectKey('revoked')
      if (hasAccessChanged(initialStatus, keyStatus)) return { ...page, work: [], cursor: from, hasMore: false, isNew }
      if (initialStatus === null && page.hasUnsequenced && (from === null || page.work.length === 0)) {
        // The first response includes committed events, even if they have no feed position yet.
        initialStatus = keyStatus
        await sequencer.sequence(wait.workspaceId)
        continue
      }
      initialStatus ??= keyStatus
      isNew ||= page.isNew
      if (page.work.length > 0) return { ...page, isNew }
      if (keyStatus.isStopped) {
        // While agents are stopped, keeps the cursor: no work is returned and none is skipped.
        waiter.position = Number.POSITIVE_INFINITY
        if (!isOver) await Promise.race([woken, end])
        if (isOver) return { ...page, cursor: from, hasMore: false, isNew }
        continue
      }
      from = page.cursor
      if (!page.hasMore) {
        waiter.position = Math.max(waiter.position ?? 0, from.position)
        const alarm = isOver ? null : setAlarm({ clock, repeat }, page.heldUntil, newWork.wake)
        if (!isOver) await Promise.race([woken, end])
        void alarm?.stop()
        // Advances to where the watch has found nothing for the key.
        from = { ...from, position: Math.max(from.position, waiter.position) }
        if (isOver) return { ...page, cursor: from, isNew }
      } else if (isOver && ++steps === maxSteps) return { ...page, isNew }
    }
  } finally {
    stop()
  }
}

/** Calls `wake` at this time, once a customer has been silent long enough. */
function setAlarm({ clock, repeat }: Pick<WaitLoopDeps, 'clock' | 'repeat'>, at: Date | null, wake: () => void) {
  if (at === null) return null
  const afterMs = Math.max(0, at.getTime() - clock.now().getTime())
  return repeat(
    afterMs,
    async () => wake(),
    () => {},
  )
}

/** Returns whether the wait must end because access changed; the next request gets the proper error. */
const hasAccessChanged = (initialStatus: KeyStatus | null, now: KeyStatus): boolean =>
  !now.hasInbox ||
  (initialStatus !== null && (initialStatus.keyHash !== now.keyHash || (now.isStopped && !initialStatus.isStopped)))

interface Waiter {
  keyId: string
  /** No feed event up to here is for the key; null before the first read, infinite to ignore events. */
  position: number | null
  /** There are events beyond its position that it has not read yet. */
  isBehind: boolean
  wake(): void
}

/** Wakes waiting requests when there is work for their key. */
interface WorkWatch {
  /** Returns a function that removes the waiter. */
  add(workspaceId: string, waiter: Waiter): () => void
  /** Wake all requests of this key, of this workspace, or all. */
  wakeKey(keyId: string): void
  wakeWorkspace(workspaceId: string): void
  wakeAll(): void
}

interface WorkWatchDeps {
  db: Pick<Db, 'sql'>
  log: Log
  watch: FeedWatch
}

interface WatchedWorkspace {
  waiters: Set<Waiter>
  stop(): void
}

/**
 * Reads new feed events once per workspace for all waiting requests, and wakes only those of the owning keys: otherwise
 * each of a thousand waiters would query the database for every message.
 */
function watchWork({ db, log, watch }: WorkWatchDeps): WorkWatch {
  const watched = new Map<string, WatchedWorkspace>()
  const watchWorkspace = (workspaceId: string): WatchedWorkspace => {
    const waiters = new Set<Waiter>()
    const check = singleFlight(() =>
      wakeOwners(db.sql, workspaceId, waiters).catch((error) =>
        log.warn('failed to poll for agent work; retrying', { workspaceId }, error),
      ),
    )
    const stop = watch.add({
      workspaceId,
      position: () => lowestPosition(waiters) ?? Number.POSITIVE_INFINITY,
      wake: () => void check(),
    })
    const all = { waiters, stop }
    watched.set(workspaceId, all)
    return all
  }
  const wakeEach = (waiters: Iterable<Waiter>) => {
    for (const waiter of waiters) wake(waiter)
  }
  return {
    add: (workspaceId, waiter) => {
      const { waiters, stop } = watched.get(workspaceId) ?? watchWorkspace(workspaceId)
      waiters.add(waiter)
      return () => {
        waiters.delete(waiter)
        if (waiters.size > 0 || watched.get(workspaceId)?.waiters !== waiters) return
        stop()
        watched.delete(workspaceId)
      }
    },
    wakeKey: (keyId) => {
      for (const { waiters } of watched.values()) wakeEach([...waiters].filter((waiter) => waiter.keyId === keyId))
    },
    wakeWorkspace: (workspaceId) => wakeEach(watched.get(workspaceId)?.waiters ?? []),
    wakeAll: () => {
      for (const { waiters } of watched.values()) wakeEach(waiters)
    },
  }
}

function wake(waiter: Waiter): void {
  waiter.isBehind = true
  waiter.wake()
}

const isIdle = ({ position, isBehind }: Waiter): boolean => position !== null && !isBehind

/** Returns the position up to which the feed is checked for all idle waiters; null if there are none. */
function lowestPosition(waiters: Iterable<Waiter>): number | null {
  let lowest: number | null = null
  for (const waiter of waiters) {
    if (isIdle(waiter) && waiter.position !== null) lowest = Math.min(lowest ?? waiter.position, waiter.position)
  }
  return lowest === Number.POSITIVE_INFINITY ? null : lowest
}

async function wakeOwners(sql: Sql, workspaceId: string, waiters: Set<Waiter>): Promise<void> {
  // A waiter that is reading now may read a state from before the event.
  for (const waiter of waiters) if (!isIdle(waiter)) wake(waiter)
  const idle = [...waiters].filter(isIdle)
  const [only] = idle
  if (only !== undefined && idle.length === 1) {
    if (only.position !== Number.POSITIVE_INFINITY) wake(only)
    return
  }
  for (let from = lowestPosition(waiters); from !== null; ) {
    const { reach, last, places } = await selectOwners(sql, workspaceId, from)
    for (const waiter of waiters) {
      // A waiter that was added during the query has read the feed itself, up to a later position.
      if (!isIdle(waiter) || waiter.position === null || waiter.position < from) continue
      if ((places.get(waiter.keyId) ?? 0) > waiter.position) wake(waiter)
      else waiter.position = Math.max(waiter.position, reach)
    }
    from = reach < last ? lowestPosition(waiters) : null
  }
}

interface WorkOwners {
  reach: number
  last: number
  /** Position of the newest event, by id of the key that owns the conversation now. */
  places: ReadonlyMap<string, number>
}

/** Selects the keys that own conversations with events after a feed position. */
async function selectOwners(sql: Sql, workspaceId: string, after: number): Promise<WorkOwners> {
  const all = opaqueWorkspaceId(sql, workspaceId)
  const rows = await sql<{ owner: string | null; place: number; last: number }[]>`
    with s as materialized (
      select
        coalesce(f.last_position, 0) as last,
        least(coalesce(f.last_position, 0), ${after}::bigint + ${feedRange}::bigint) as reach
      from (select ${workspaceId}::uuid as id) as w
      left join event_feeds f on f.workspace_id = w.id
    )
    select null::uuid as owner, s.reach as place, s.last
    from s
    union all
    select c.owner_key_id, max(e.position), 0
    from (
      select subject_id, position
      from events
      where workspace_id = ${workspaceId}
        and position > ${after}
        and position <= (select reach from s)
        and name = any (${workEvents}::text[])
        and test_endpoint_id is null
      offset 0
    ) as e
    left join conversation_aliases a on a.workspace_id = ${all} and a.id = e.subject_id
    cross join lateral (
      select owner_key_id
      from conversations
      where workspace_id = ${all}
        and id = coalesce(a.conversation_id, e.subject_id)
        and owner_key_id is not null
      offset 0
    ) as c
    group by 1`
  const state = rows.find(({ owner }) => owner === null)
  if (state === undefined) throw new Error('A row was expected')
  const places = new Map(rows.flatMap(({ owner, place }) => (owner === null ? [] : [[owner, place]])))
  return { reach: state.place, last: state.last, places }
}
