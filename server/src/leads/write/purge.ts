import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { restorableMs } from './restore.ts'

const batchSize = 200

/**
 * Destroys the personal data of leads deleted more than 30 days ago, their events' bodies included; the bare rows
 * stay for counts. Any number of workers may run it: each takes other rows. Returns how many leads it purged.
 */
export async function purgeDeletedLeads(db: Db, clock: Clock): Promise<number> {
  let purged = 0
  for (;;) {
    const now = clock.now()
    const before = new Date(now.getTime() - restorableMs)
    const due = await db.sql<{ workspace_id: string }[]>`
      select workspace_id
      from leads
      where deleted_at <= ${before}
        and purged_at is null
      order by deleted_at
      limit ${batchSize}`
    let count = 0
    for (const workspaceId of new Set(due.map((row) => row.workspace_id))) {
      count += await db.tx((tx) => purgeBatch(tx, workspaceId, before, now))
    }
    purged += count
    // Those that were not purged are being purged by others.
    if (due.length < batchSize || count === 0) return purged
  }
}

async function purgeBatch(tx: Tx, workspaceId: string, before: Date, now: Date): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select id
    from leads
    where workspace_id = ${workspaceId}
      and deleted_at <= ${before}
      and purged_at is null
    order by deleted_at
    limit ${batchSize}
    for no key update skip locked`
  if (rows.length === 0) return 0
  const ids = rows.map((row) => row.id)
  await tx`
    update leads
    set person = '',
      notes = null,
      custom_fields = null,
      email_index = null,
      phone_index = null,
      external_ref = null,
      unique_code = id::text,
      purged_at = ${now}
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  // Tokens among them: the feed would tell that the lead was deleted, but is emptied too.
  for (const table of ['lead_contacts', 'lead_search', 'lead_labels', 'lead_notes']) {
    await tx`
      delete from ${tx(table)}
      where workspace_id = ${workspaceId}
        and lead_id = any (${ids}::uuid[])`
  }
  await tx`
    delete from events
    where workspace_id = ${workspaceId}
      and subject_id = any (${ids}::uuid[])`
  return rows.length
}
