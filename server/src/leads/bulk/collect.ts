import type { Keyring } from '../../base/sealing/keyring.ts'
import { announceBulkChange } from '../../team/team-news.ts'
import type { LeadUser } from '../lead/lead.ts'
import { listLeads } from '../search/list.ts'
import { asOf, type LeadFilter } from '../search/list-filter.ts'
import type { ListDeps } from '../search/list-page.ts'
import { type BulkChangeRow, leaseEnd } from './bulk-changes.ts'
import { putWaiting } from './items.ts'

const pageLeads = 500
/** As many as a workspace of the largest kind has. */
export const maxCollected = 1_000_000

const filterPlace = (changeId: string) => ({ table: 'lead_bulk_changes', row: changeId, column: 'filter' })

export const sealFilter = (keyring: Keyring, changeId: string, filter: LeadFilter): Buffer =>
  keyring.seal(filterPlace(changeId), JSON.stringify(filter))

const timed = ['createdFrom', 'createdTo', 'updatedFrom', 'updatedTo'] as const

function openFilter(keyring: Keyring, { id, created_at }: BulkChangeRow, sealed: Buffer): LeadFilter {
  const filter = JSON.parse(keyring.openText(filterPlace(id), sealed)) as LeadFilter
  for (const name of timed) {
    const time = filter[name]
    filter[name] = time === null ? null : new Date(time)
  }
  // Whoever comes later was not counted when somebody agreed.
  const { createdTo } = filter
  return {
    ...asOf(filter, created_at),
    createdTo: createdTo === null || createdTo > created_at ? created_at : createdTo,
  }
}

/**
 * Notes the next page of the leads that the filter shows, the oldest first; nothing is changed before all are noted, so
 * that no change makes a lead fit, or fit no more. Null when somebody else was there first.
 */
export async function collectPage(deps: ListDeps, user: LeadUser, row: BulkChangeRow): Promise<BulkChangeRow | null> {
  const { workspace_id: workspaceId, id } = row
  const keyring = await deps.vault.keyring(workspaceId)
  if (row.filter === null) throw new Error('A bulk change collects without a filter')
  const page = await listLeads(deps, user, {
    filter: openFilter(keyring, row, row.filter),
    sort: { by: 'createdAt', order: 'asc' },
    limit: pageLeads,
    page: 1,
    cursor: row.cursor,
  })
  const isLast = page.nextCursor === null || row.total + page.leads.length >= maxCollected
  return deps.db.tx(async (tx) => {
    const [moved] = await tx<BulkChangeRow[]>`
      update lead_bulk_changes
      set total = total + ${page.leads.length},
        cursor = ${isLast ? null : page.nextCursor},
        filter = case when ${isLast} then null else filter end,
        state = case when ${isLast} then 'running' else state end,
        due_at = ${leaseEnd(deps.clock.now())},
        attempts = 0
      where workspace_id = ${workspaceId}
        and id = ${id}
        and state = 'collecting'
        and cursor is not distinct from ${row.cursor}::text
      returning *`
    if (moved === undefined) return null
    await putWaiting(
      tx,
      workspaceId,
      id,
      page.leads.map((lead) => lead.id),
    )
    announceBulkChange(tx, workspaceId, id)
    return moved
  })
}
