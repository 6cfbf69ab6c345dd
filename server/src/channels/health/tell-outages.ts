import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { recordNotices } from '../../notices/record.ts'

/** What is back within this is worth nobody's attention: linked devices come and go. */
const minOutageMs = 60_000

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
      where c.state = 'unavailable'
        and c.removed_at is null
        and c.state_changed_at <= ${new Date(now.getTime() - minOutageMs)}
        and coalesce(c.last_event_in_at, c.last_event_out_at) is not null
        and c.state_reason is distinct from 'pairing'
        and c.id not in (select connection_id from told_outages)`
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
    where c.workspace_id = t.workspace_id
      and c.id = t.connection_id
      and c.state <> 'unavailable'`
}
