import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import { restorableMs } from './restore.ts'

const batchSize = 200

/**
 * Destroys the personal data of leads deleted more than 30 days ago, their events' bodies included; the bare rows
 * stay for counts. Any number of workers may run it: each takes other rows. Returns how many leads it purged.
 */
export async function purgeDeletedLeads(db: Db, clock: Clock): Promise<number> {
  let purged = 0
  for (;;) {
    const count = await db.tx(async (tx) => {
      const now = clock.now()
      const rows = await tx<{ workspace_id: string; id: string }[]>`
        select workspace_id, id
        from leads
        where deleted_at <= ${new Date(now.getTime() - restorableMs)}
          and purged_at is null
        order by deleted_at
        limit ${batchSize}
        for no key update skip locked`
      if (rows.length === 0) return 0
      const workspaces = rows.map((row) => row.workspace_id)
      const ids = rows.map((row) => row.id)
      await tx`
        update leads l
        set person = '',
          notes = null,
          custom_fields = null,
          email_index = null,
          phone_index = null,
          external_ref = null,
          unique_code = l.id::text,
          purged_at = ${now}
        from unnest(${workspaces}::uuid[], ${ids}::uuid[]) as r (workspace_id, id)
        where l.workspace_id = r.workspace_id
          and l.id = r.id`
      await tx`
        delete from lead_contacts k
        using unnest(${workspaces}::uuid[], ${ids}::uuid[]) as r (workspace_id, id)
        where k.workspace_id = r.workspace_id
          and k.lead_id = r.id`
      // The feed would tell that the lead was deleted, but is emptied too.
      await tx`
        delete from lead_search s
        using unnest(${workspaces}::uuid[], ${ids}::uuid[]) as r (workspace_id, id)
        where s.workspace_id = r.workspace_id
          and s.lead_id = r.id`
      await tx`
        delete from events e
        using unnest(${workspaces}::uuid[], ${ids}::uuid[]) as r (workspace_id, id)
        where e.workspace_id = r.workspace_id
          and e.subject_id = r.id`
      return rows.length
    })
    purged += count
    if (count < batchSize) return purged
  }
}
