import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { type DueWatch, watchDue } from '../../base/news.ts'
import { recordNotices } from '../../notices/record.ts'
import { announcesConnection, teamTopic } from '../../team/team-news.ts'

/** What is back within this is worth nobody's attention: linked devices come and go. */
const minOutageMs = 60_000
/** Within the minute after which an outage is one. */
const askEveryMs = 55_000
/** What is told anew of a connection is not always how it stands. */
const restMs = 15_000

/** Whether there is an outage to be told of, or one of those is over. */
export function watchOutages({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ lostAt: Date | null; hasEnded: boolean }[]>`
      select
        (select min(c.state_changed_at) from connections c where ${isUntold(db.sql)}) as "lostAt",
        exists (select from told_outages t join connections c on ${isOver(db.sql)}) as "hasEnded"`
    if (row?.hasEnded) return new Date(0)
    return row?.lostAt ? new Date(row.lostAt.getTime() + minOutageMs) : null
  }
  const news = [{ topic: teamTopic, concerns: announcesConnection }]
  return watchDue({ db, clock }, { nextAt, askEveryMs, restMs, news })
}

/**
 * Tells every member of a connection that worked and does not any more, once for each outage. For a timer; any node may. Returns
 * how many outages were told of.
 */
export function tellOutages(db: Db, clock: Clock): Promise<number> {
  return db.tx(async (tx) => {
    const now = clock.now()
    await endTold(tx)
    const down = await tx<{ workspaceId: string; connectionId: string }[]>`
      select c.workspace_id as "workspaceId", c.id as "connectionId"
      from connections c
      where c.state_changed_at <= ${new Date(now.getTime() - minOutageMs)}
        and ${isUntold(tx)}`
    if (down.length === 0) return 0
    const lost = await tx<{ workspaceId: string; connectionId: string }[]>`
      insert into told_outages (workspace_id, connection_id)
      select d.workspace_id, d.connection_id
      from unnest(
        ${down.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${down.map(({ connectionId }) => connectionId)}::uuid[]
      ) as d (workspace_id, connection_id)
      on conflict do nothing
      returning workspace_id as "workspaceId", connection_id as "connectionId"`
    for (const { workspaceId, connectionId } of lost) {
      const notice = { kind: 'connection', cause: newId(now), userId: null, connectionId } as const
      await recordNotices(tx, workspaceId, [{ ...notice, actor: { type: 'system', id: null } }], now)
    }
    return lost.length
  })
}

async function endTold(tx: Tx): Promise<void> {
  await tx`
    delete from told_outages t
    using connections c
    where ${isOver(tx)}`
}

const isUntold = (sql: Sql) => sql`
  c.state = 'unavailable'
    and c.removed_at is null
    and coalesce(c.last_event_in_at, c.last_event_out_at) is not null
    and c.state_reason is distinct from 'pairing'
    and (c.workspace_id, c.id) not in (select workspace_id, connection_id from told_outages)`

const isOver = (sql: Sql) => sql`
  c.workspace_id = t.workspace_id
    and c.id = t.connection_id
    and c.state <> 'unavailable'`
