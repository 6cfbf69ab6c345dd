import pLimit from 'p-limit'
import { singleFlightByKey } from '../base/async/batch.ts'
import { andWorkspace } from '../base/citus/distributed-sql.ts'
import { type Db, publish, type Sql, type Tx } from '../base/db.ts'

/** Published when a feed has new positions; the id is the workspace. */
export const sequencedTopic = 'events_placed'

export const sequenceBatch = 1000

/**
 * Assigns feed positions to committed events of a workspace; returns how many, at most 1,000. Any process can call it
 * at any time: the feed's row is locked, and events that commit later get later positions.
 *
 * Transactions commit in another order than they start, so a number taken during a transaction cannot tell a reader
 * whether a smaller one is still to come. A position can, because it is assigned after the commit. Events of one subject
 * keep the order of `seq`: the transaction that writes the later event has waited for the commit of the earlier one.
 */
export async function sequenceEvents(db: Db, workspaceId: string): Promise<number> {
  return db.tx(async (tx) => {
    const last = await lockFeedRow(tx, workspaceId)
    // A separate statement: its snapshot must not be older than the lock. Joins on the workspace id of the rows, so
    // that the planner does not see the constant. With outdated statistics, or in a new table, it would estimate one
    // event for the workspace, scan all its events per sequenced event, and cache that plan.
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
          ${andWorkspace(tx, workspaceId, 'e')}
        returning e.position
      )
      select count(*) as count, max(position) as last
      from placed`
    // Uses the highest position, not the count: an event that was purged meanwhile leaves a gap.
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

/** A workspace with unsequenced events, and the time of the first one. */
export interface UnsequencedWorkspace {
  id: string
  firstAt: Date
}

const maxListed = 1000
/** Events per page. Most workspaces have few; after a full page of one, the next page starts at the next one. */
const listPage = 1000

/** Returns at most 1,000 workspaces with unsequenced events; reads few rows, even if one workspace has many. */
export async function listUnsequenced(sql: Sql): Promise<UnsequencedWorkspace[]> {
  const listed: UnsequencedWorkspace[] = []
  for (;;) {
    const after = listed.at(-1)?.id
    const rows = await sql<(UnsequencedWorkspace & { count: number })[]>`
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
    const scanned = rows.reduce((sum, { count }) => sum + count, 0)
    if (scanned < listPage || listed.length >= maxListed) return listed.slice(0, maxListed)
  }
}

export interface UnsequencedEvents {
  /** At most 10,000. */
  count: number
  /** Null if there are none. */
  oldestAt: Date | null
}

const maxUnsequenced = 10_000

/** Counts unsequenced events of all workspaces; the oldest time covers the first 1,000 workspaces. */
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

/** Sequences committed events; concurrent calls share runs, and few workspaces run at a time. */
export interface Sequencer {
  /** Resolves when all events that were committed before the call have a position. */
  sequence(workspaceId: string): Promise<void>
  /** Sequences all workspaces with unsequenced events, and returns their number. */
  sequenceAll(): Promise<number>
}

const maxAtOnce = 4

export function createSequencer(db: Db): Sequencer {
  const limitConcurrency = pLimit(maxAtOnce)
  // A run in progress may have read before the caller's commit; callers that arrive meanwhile share the next run.
  const sequence = singleFlightByKey((workspaceId) => limitConcurrency(() => sequenceWorkspace(db, workspaceId)))

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
