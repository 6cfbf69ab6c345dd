import pLimit from 'p-limit'
import { rejectKey } from '../../access/keys/reject-key.ts'
import { createSignal } from '../../base/async/signal.ts'
import type { Clock } from '../../base/clock.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import { createWaitPlaces } from '../../events/long-poll.ts'
import type { Sequencer } from '../../events/sequence.ts'
import { readWork, type Standing, type WorkPage } from './read-work.ts'
import type { WorkCursor } from './work-cursor.ts'
import { type Waiter, type WorkWatch, type WorkWatchDeps, watchWork } from './work-watch.ts'

export interface WorkWaitDeps extends WorkWatchDeps {
  vault: Vault
  clock: Clock
  sequencer: Sequencer
}

export interface WorkWait {
  workspaceId: string
  keyId: string
  from: WorkCursor | null
  limit: number
  waitMs: number
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal
}

export interface WorkAnswer extends Pick<WorkPage, 'work' | 'hasMore' | 'isNew' | 'standing'> {
  /** Where to go on; null: from the beginning. */
  cursor: WorkCursor | null
}

/** Requests that wait for work. No connection to the database is held meanwhile. */
export interface WorkWaits {
  /** The key's next work; none when the time is over or agents are stopped meanwhile. Throws 401 once the key has ended. */
  wait(wait: WorkWait): Promise<WorkAnswer>
  /** A key, or the settings of a workspace, have changed: those who wait there look whether they may go on. */
  keyChanged(keyId: string): void
  workspaceChanged(workspaceId: string): void
  /** Nobody knows what has changed. */
  allChanged(): void
  /** Ends every wait at once with what there is. */
  close(): void
}

/** When all of a workspace look again at once, the database is asked by so many. */
const looksAtOnce = 8
/** Whoever comes back from far behind takes several looks to get to the end: so many after the time is over. */
const maxSteps = 5

export function createWorkWaits(deps: WorkWaitDeps): WorkWaits {
  const places = createWaitPlaces('Call wait_for_work again in a few seconds, or with `wait` 0.')
  const watch = watchWork(deps)
  const inTurn = pLimit(looksAtOnce)
  const ends = new Set<() => void>()
  const read: Read = (wait, from, isFirst) => {
    const { workspaceId, keyId, limit } = wait
    const look = () =>
      deps.vault.withKeyring(workspaceId, (keyring) =>
        readWork(deps.db, keyring, { workspaceId, keyId, from, limit, now: deps.clock.now() }, isFirst),
      )
    return isFirst ? look() : inTurn(look)
  }
  return {
    wait: async (wait) => {
      const end = Promise.withResolvers<void>()
      if (wait.waitMs === 0) return workOrEnd({ ...deps, read, watch }, wait, Promise.resolve())
      const leave = places.enter(wait.keyId)
      const timer = setTimeout(end.resolve, wait.waitMs)
      const abort = () => end.resolve()
      wait.signal.addEventListener('abort', abort, { once: true })
      if (wait.signal.aborted) abort()
      ends.add(end.resolve)
      try {
        return await workOrEnd({ ...deps, read, watch }, wait, end.promise)
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

type Read = (wait: WorkWait, from: WorkCursor | null, isFirst: boolean) => Promise<WorkPage>

interface LoopDeps extends Pick<WorkWaitDeps, 'sequencer'> {
  read: Read
  watch: WorkWatch
}

async function workOrEnd(
  { sequencer, read, watch }: LoopDeps,
  wait: WorkWait,
  end: Promise<void>,
): Promise<WorkAnswer> {
  let isOver = wait.waitMs === 0
  end.then(() => {
    isOver = true
  })
  const news = createSignal()
  const waiter: Waiter = { keyId: wait.keyId, position: null, isBehind: false, wake: news.wake }
  const stop = watch.add(wait.workspaceId, waiter)
  try {
    let from = wait.from
    let isNew = false
    let steps = 0
    for (let first: Standing | null = null; ; ) {
      // Before the read: news that come during it may be of something that it does not see.
      const woken = news.next()
      waiter.isBehind = false
      if (!Number.isFinite(waiter.position)) waiter.position = null
      const page = await read(wait, from, first === null)
      const { standing } = page
      if (!standing.isActive) throw rejectKey('revoked')
      if (hasTurned(first, standing)) return { ...page, work: [], cursor: from, hasMore: false, isNew }
      if (first === null && page.isUnplaced && (from === null || page.work.length === 0)) {
        // What came before the question is part of the answer, whether or not anybody has placed it.
        first = standing
        await sequencer.place(wait.workspaceId)
        continue
      }
      first ??= standing
      isNew ||= page.isNew
      if (page.work.length > 0) return { ...page, isNew }
      if (standing.isStopped) {
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
const hasTurned = (first: Standing | null, now: Standing): boolean =>
  !now.hasInbox || (first !== null && (first.keyHash !== now.keyHash || (now.isStopped && !first.isStopped)))
