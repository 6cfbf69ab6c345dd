import pLimit from 'p-limit'
import { singleFlightByKey } from '../base/async/batch.ts'
import { andNamed } from '../base/citus/distributed-sql.ts'
import { type Db, publish, type Sql, type Tx } from '../base/db.ts'

/** New places in the feed of a workspace, which is the id. */
export const sequencedTopic = 'events_placed'

export const sequenceBatch = 1000

/**
 * Gives committed events of a workspace their places in its feed. Any process may, at any time: the feed's row is locked,
 * and what is committed afterwards comes after. Returns how many it placed, at most 1,000.
 *
 * Transactions commit in another order than they begin, so no number that is taken while one runs tells a reader
 * whether a smaller one is still to come. A place does, for it is given after the commit. Events of one subject keep the
 * order of `seq`: who writes the later one has waited for the commit of the earlier.
 */
export async function sequenceEvents(db: Db, workspaceId: string): Promise<number> {
  return db.tx(async (tx) => {
    const last = await lockFeedRow(tx, workspaceId)
    // A statement of its own: its snapshot must not be older than the lock.
    // The workspace is taken from the rows, so that the planner does not see whose it is. It would take a workspace that
    // outgrew its statistics for one event, and read all of it for each that is placed; the same in a new table, and
    // keep to that plan.
    const [placed] = await tx<{ count: number; last: number | null }[]>`
      with placed as (
        update events e
        set position = u.position
        from (
          select workspace_id, id, ${last}::bigint + row_number() over (order by seq) as position
          from (
            select workspace_id, id, seq
            from events
            where workspace_id = ${workspaceId}
              and position is null
            order by seq
            limit ${sequenceBatch}
          ) as oldest
        ) as u
        where e.workspace_id = u.workspace_id
          and e.id = u.id
          ${andNamed(tx, workspaceId, 'e')}
        returning e.position
      )
      select count(*) as count, max(position) as last
      from placed`
    // The highest place rather than the count: an event that was purged meanwhile leaves a gap.
    if (placed === undefined || placed.last === null) return 0
    await tx`
      update event_feeds
      set last_position = ${placed.last}
      where workspace_id = ${workspaceId}`
    publish(tx, sequencedTopic, workspaceId)
    return placed.count
  })
}

async function lockFeedRow(tx: Tx, workspaceId: string): Promise<number> {
  const select = () => tx<{ last: number }[]>`
    select last_position as last
    from event_feeds
    where workspace_id = ${workspaceId}
    for update`
  const [feed] = await select()
  if (feed !== undefined) return feed.last
  await tx`
    insert into event_feeds (workspace_id)
    values (${workspaceId})
    on conflict do nothing`
  const [created] = await select()
  return created?.last ?? 0
}

/** A workspace that has events without a place, and when the first of them occurred. */
export interface Unsequenced {
  id: string
  firstAt: Date
}

const maxListed = 1000
/** Most have a few that wait. Beyond so many of one, the next page begins with the next workspace. */
const listPage = 1000

/** Workspaces that have events without a place, at most 1,000: however many wait, few are looked at. */
export async function listUnsequenced(sql: Sql): Promise<Unsequenced[]> {
  const listed: Unsequenced[] = []
  for (;;) {
    const after = listed.at(-1)?.id
    const rows = await sql<(Unsequenced & { count: number })[]>`
      select workspace_id as id, min(occurred_at) as "firstAt", count(*) as count
      from (
        select workspace_id, occurred_at
        from events
        where position is null
          ${after === undefined ? sql`` : sql`and workspace_id > ${after}`}
        order by workspace_id, seq
        limit ${listPage}
      ) as waiting
      group by workspace_id
      order by workspace_id`
    listed.push(...rows)
    const looked = rows.reduce((sum, { count }) => sum + count, 0)
    if (looked < listPage || listed.length >= maxListed) return listed.slice(0, maxListed)
  }
}

export interface UnsequencedEvents {
  /** Counted up to 10,000. */
  count: number
  /** Null when none waits. */
  oldestAt: Date | null
}

const maxUnsequenced = 10_000

/** Events of all workspaces that have no place in their feed yet: the first of each of 1,000 workspaces is looked at. */
export async function readUnsequenced(sql: Sql): Promise<UnsequencedEvents> {
  const [workspaces, [row]] = await Promise.all([
    listUnsequenced(sql),
    sql<{ count: number }[]>`
      select count(*)
      from (
        select 1
        from events
        where position is null
        limit ${maxUnsequenced}
      ) as counted`,
  ])
  const [oldest] = workspaces.map(({ firstAt }) => firstAt).sort((a, b) => a.getTime() - b.getTime())
  return { count: row?.count ?? 0, oldestAt: oldest ?? null }
}

/** Gives committed events their places, for any number of callers in one go; in a few workspaces at a time. */
export interface Sequencer {
  /** Once it resolves, what had been committed before the call has its place. */
  sequence(workspaceId: string): Promise<void>
  /** Places whatever waits in any workspace, and returns in how many something did. */
  sequenceAll(): Promise<number>
}

const maxAtOnce = 4

export function createSequencer(db: Db): Sequencer {
  const inTurn = pLimit(maxAtOnce)
  // A run under way may have looked before the caller's commit: then all who come meanwhile share the next.
  const sequence = singleFlightByKey((workspaceId) => inTurn(() => sequenceWorkspace(db, workspaceId)))

  return {
    sequence,
    sequenceAll: async () => {
      const workspaces = await listUnsequenced(db.sql)
      await Promise.all(workspaces.map(({ id }) => sequence(id)))
      return workspaces.length
    },
  }
}

async function sequenceWorkspace(db: Db, workspaceId: string): Promise<void> {
  let placed: number
  do placed = await sequenceEvents(db, workspaceId)
  while (placed === sequenceBatch)
}
