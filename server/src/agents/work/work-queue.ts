import pLimit from 'p-limit'
import { rejectKey } from '../../auth/api-keys/caller.ts'
import { singleFlight } from '../../base/async/batch.ts'
import { createSignal } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Log } from '../../base/log.ts'
import type { FeedWatch } from '../../events/feed-watch.ts'
import { createWaitLimit } from '../../events/long-poll.ts'
import type { Sequencer } from '../../events/sequence.ts'
import { anyWorkspace } from '../../inbox/conversation/queries.ts'
import { feedRange, type WorkCursor, workEvents } from './due-work.ts'
import { type KeyStatus, readWork, type WorkPage } from './read-work.ts'

interface WorkQueueDeps extends WorkWatchDeps {
  keyStore: KeyStore
  clock: Clock
  sequencer: Sequencer
}

interface WorkWait {
  workspaceId: string
  keyId: string
  from: WorkCursor | null
  limit: number
  waitMs: number
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal
}

export interface WorkResult extends Pick<WorkPage, 'work' | 'hasMore' | 'isNew' | 'keyStatus'> {
  /** Where to go on; null: from the beginning. */
  cursor: WorkCursor | null
}

/** Requests that wait for work. No connection to the database is held meanwhile. */
export interface WorkQueue {
  /** The key's next work; none when the time is over or agents are stopped meanwhile. Throws 401 once the key has ended. */
  wait(wait: WorkWait): Promise<WorkResult>
  /** A key, or the settings of a workspace, have changed: those who wait there look whether they may go on. */
  keyChanged(keyId: string): void
  workspaceChanged(workspaceId: string): void
  /** Nobody knows what has changed. */
  allChanged(): void
  /** Ends every wait at once with what there is. */
  close(): void
}

/** When all of a workspace look again at once, the database is asked by so many. */
const maxConcurrentReads = 8
/** Whoever comes back from far behind takes several looks to get to the end: so many after the time is over. */
const maxSteps = 5

export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const waitLimit = createWaitLimit('Call wait_for_work again in a few seconds, or with `wait` 0.')
  const watch = watchWork(deps)
  const inTurn = pLimit(maxConcurrentReads)
  const ends = new Set<() => void>()
  const read: ReadWork = (wait, from, isFirst) => {
    const { workspaceId, keyId, limit } = wait
    const readOnce = () =>
      deps.keyStore.withKeyring(workspaceId, (keyring) =>
        readWork(deps.db, keyring, { workspaceId, keyId, from, limit, now: deps.clock.now() }, isFirst),
      )
    return isFirst ? readOnce() : inTurn(readOnce)
  }
  return {
    wait: async (wait) => {
      const end = Promise.withResolvers<void>()
      if (wait.waitMs === 0) return waitUntilWorkOrEnd({ ...deps, read, watch }, wait, Promise.resolve())
      const leave = waitLimit.acquire(wait.keyId)
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
        leave()
      }
    },
    keyChanged: watch.wakeKey,
    workspaceChanged: watch.wakeWorkspace,
    allChanged: watch.wakeAll,
    close: () => {
      for (const end of ends) end()
    },
  }
}

type ReadWork = (wait: WorkWait, from: WorkCursor | null, isFirst: boolean) => Promise<WorkPage>

interface WaitLoopDeps extends Pick<WorkQueueDeps, 'sequencer'> {
  read: ReadWork
  watch: WorkWatch
}

async function waitUntilWorkOrEnd(
  { sequencer, read, watch }: WaitLoopDeps,
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
    for (let first: KeyStatus | null = null; ; ) {
      // Before the read: news that come during it may be of something that it does not see.
      const woken = newWork.next()
      waiter.isBehind = false
      if (!Number.isFinite(waiter.position)) waiter.position = null
      const page = await read(wait, from, first === null)
      const { keyStatus } = page
      if (!keyStatus.isActive) throw rejectKey('revoked')
      if (hasAccessChanged(first, keyStatus)) return { ...page, work: [], cursor: from, hasMore: false, isNew }
      if (first === null && page.hasUnsequenced && (from === null || page.work.length === 0)) {
        // What came before the question is part of the answer, whether or not anybody has placed it.
        first = keyStatus
        await sequencer.sequence(wait.workspaceId)
        continue
      }
      first ??= keyStatus
      isNew ||= page.isNew
      if (page.work.length > 0) return { ...page, isNew }
      if (keyStatus.isStopped) {
        // Nothing comes to an agent, and nothing is passed over, until somebody lets agents on.
        waiter.position = Number.POSITIVE_INFINITY
        if (!isOver) await Promise.race([woken, end])
        if (isOver) return { ...page, cursor: from, hasMore: false, isNew }
        continue
      }
      from = page.cursor
      if (!page.hasMore) {
        waiter.position = Math.max(waiter.position ?? 0, from.position)
        if (!isOver) await Promise.race([woken, end])
        // As far as somebody has looked for it, and there was nothing.
        from = { position: Math.max(from.position, waiter.position), waiting: null }
        if (isOver) return { ...page, cursor: from, isNew }
      } else if (isOver && ++steps === maxSteps) return { ...page, isNew }
    }
  } finally {
    stop()
  }
}

/** Whether it may be that who waits is to have no answer any more, or another one: who asks anew is told at the door. */
const hasAccessChanged = (first: KeyStatus | null, now: KeyStatus): boolean =>
  !now.hasInbox || (first !== null && (first.keyHash !== now.keyHash || (now.isStopped && !first.isStopped)))

/** Somebody who waits for work of a key. */
interface Waiter {
  keyId: string
  /** Up to here nothing of the feed is for the key; null until it has looked for the first time, infinite for no event. */
  position: number | null
  /** There is something beyond its position, and it has not looked again yet. */
  isBehind: boolean
  /** Has it look. */
  wake(): void
}

/** Wakes those who wait when there is work for their key. */
interface WorkWatch {
  /** Returns how to stop. */
  add(workspaceId: string, waiter: Waiter): () => void
  /** Has all look again who wait with this key, or in this workspace, or at all. */
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
 * What comes is looked at once for all who wait in a workspace, and only whose it is looks for itself: of a thousand who
 * wait, each would ask the database about every message.
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

/** From where on nobody has looked for all of those who only wait; null when there are none. */
function lowestPosition(waiters: Iterable<Waiter>): number | null {
  let found: number | null = null
  for (const waiter of waiters) {
    if (isIdle(waiter) && waiter.position !== null) found = Math.min(found ?? waiter.position, waiter.position)
  }
  return found === Number.POSITIVE_INFINITY ? null : found
}

async function wakeOwners(sql: Sql, workspaceId: string, waiters: Set<Waiter>): Promise<void> {
  // Whoever looks at the moment may look at too old a state.
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
      // Who began to wait meanwhile has looked for itself, and stands beyond.
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
  /** By the id of the key that owns the conversation now: the place of the newest event. */
  places: ReadonlyMap<string, number>
}

/** To which keys anything came after a place of the feed. */
async function selectOwners(sql: Sql, workspaceId: string, after: number): Promise<WorkOwners> {
  const all = anyWorkspace(sql, workspaceId)
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
