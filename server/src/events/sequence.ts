import { announce, type Db, type Sql, type Tx } from '../base/db.ts'

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
    const last = await lockFeed(tx, workspaceId)
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
    announce(tx, sequencedTopic, workspaceId)
    return placed.count
  })
}

async function lockFeed(tx: Tx, workspaceId: string): Promise<number> {
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

/** Workspaces that have events without a place, at most 1,000: one probe of the index for each, however many wait. */
export async function listUnsequenced(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive w as (
      (
        select workspace_id as id
        from events
        where position is null
        order by workspace_id
        limit 1
      )
      union all
      select (
        select e.workspace_id
        from events e
        where e.position is null
          and e.workspace_id > w.id
        order by e.workspace_id
        limit 1
      )
      from w
      where w.id is not null
    )
    select id
    from w
    where id is not null
    limit 1000`
  return rows.map((row) => row.id)
}
