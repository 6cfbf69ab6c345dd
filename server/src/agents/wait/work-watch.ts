import { singleFlight } from '../../base/async/batch.ts'
import type { Db, Sql } from '../../base/db.ts'
import type { Log } from '../../base/log.ts'
import type { FeedWatch } from '../../events/watch.ts'
import { anyWorkspace } from '../../inbox/conversation/queries.ts'
import { stretch, workEvents } from './due-work.ts'

/** Somebody who waits for work of a key. */
export interface Waiter {
  keyId: string
  /** Up to here nothing of the feed is for the key; null until it has looked for the first time, infinite for no event. */
  position: number | null
  /** There is something beyond its position, and it has not looked again yet. */
  isBehind: boolean
  /** Has it look. */
  wake(): void
}

/** Wakes those who wait when there is work for their key. */
export interface WorkWatch {
  /** Returns how to stop. */
  add(workspaceId: string, waiter: Waiter): () => void
  /** Has all look again who wait with this key, or in this workspace, or at all. */
  wakeKey(keyId: string): void
  wakeWorkspace(workspaceId: string): void
  wakeAll(): void
}

export interface WorkWatchDeps {
  db: Pick<Db, 'sql'>
  log: Log
  watch: FeedWatch
}

interface Followed {
  waiters: Set<Waiter>
  stop(): void
}

/**
 * What comes is looked at once for all who wait in a workspace, and only whose it is looks for itself: of a thousand who
 * wait, each would ask the database about every message.
 */
export function watchWork({ db, log, watch }: WorkWatchDeps): WorkWatch {
  const followed = new Map<string, Followed>()
  const follow = (workspaceId: string): Followed => {
    const waiters = new Set<Waiter>()
    const look = singleFlight(() =>
      wakeOwners(db.sql, workspaceId, waiters).catch((error) =>
        log.warn('work not looked for', { workspaceId }, error),
      ),
    )
    const stop = watch.add({
      workspaceId,
      position: () => lowest(waiters) ?? Number.POSITIVE_INFINITY,
      wake: () => void look(),
    })
    const all = { waiters, stop }
    followed.set(workspaceId, all)
    return all
  }
  const wakeEach = (waiters: Iterable<Waiter>) => {
    for (const waiter of waiters) wake(waiter)
  }
  return {
    add: (workspaceId, waiter) => {
      const { waiters, stop } = followed.get(workspaceId) ?? follow(workspaceId)
      waiters.add(waiter)
      return () => {
        waiters.delete(waiter)
        if (waiters.size > 0 || followed.get(workspaceId)?.waiters !== waiters) return
        stop()
        followed.delete(workspaceId)
      }
    },
    wakeKey: (keyId) => {
      for (const { waiters } of followed.values()) wakeEach([...waiters].filter((waiter) => waiter.keyId === keyId))
    },
    wakeWorkspace: (workspaceId) => wakeEach(followed.get(workspaceId)?.waiters ?? []),
    wakeAll: () => {
      for (const { waiters } of followed.values()) wakeEach(waiters)
    },
  }
}

function wake(waiter: Waiter): void {
  waiter.isBehind = true
  waiter.wake()
}

const isIdle = ({ position, isBehind }: Waiter): boolean => position !== null && !isBehind

/** From where on nobody has looked for all of those who only wait; null when there are none. */
function lowest(waiters: Iterable<Waiter>): number | null {
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
  for (let from = lowest(waiters); from !== null; ) {
    const { reach, last, places } = await selectOwners(sql, workspaceId, from)
    for (const waiter of waiters) {
      // Who began to wait meanwhile has looked for itself, and stands beyond.
      if (!isIdle(waiter) || waiter.position === null || waiter.position < from) continue
      if ((places.get(waiter.keyId) ?? 0) > waiter.position) wake(waiter)
      else waiter.position = Math.max(waiter.position, reach)
    }
    from = reach < last ? lowest(waiters) : null
  }
}

interface Owners {
  reach: number
  last: number
  /** By the id of the key that owns the conversation now: the place of the newest event. */
  places: ReadonlyMap<string, number>
}

/** To which keys anything came after a place of the feed. */
async function selectOwners(sql: Sql, workspaceId: string, after: number): Promise<Owners> {
  const all = anyWorkspace(sql, workspaceId)
  const rows = await sql<{ owner: string | null; place: number; last: number }[]>`
    with s as materialized (
      select
        coalesce(f.last_position, 0) as last,
        least(coalesce(f.last_position, 0), ${after}::bigint + ${stretch}::bigint) as reach
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
