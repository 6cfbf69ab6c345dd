import type { Tx } from '../../base/db.ts'
import type { Removed } from '../../base/erasure.ts'
import { firstIdAt } from '../../base/id.ts'
import { type EventsErased, eraseEvents } from '../../events/erase.ts'

/** Leads that this one was merged with, either way, beside those that are known. It is locked: no merge is under way. */
export async function mergedWith(
  tx: Tx,
  workspaceId: string,
  leadId: string,
  known: readonly string[],
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select case when kept_id = ${leadId} then merged_id else kept_id end as id
    from lead_merges
    where workspace_id = ${workspaceId}
      and (kept_id = ${leadId} or merged_id = ${leadId})
      and undone_at is null`
  return rows.map(({ id }) => id).filter((id) => !known.includes(id))
}

interface UndoneMerge {
  id: string
  kept_id: string
  merged_at: Date
  undone_at: Date
  /** The event of the undo; events of the merge live no longer than that. */
  told_by: string
}

/**
 * Erases what other leads have kept of this one from the time that it was merged into them: their events of that time, what
 * the undo says that it took from them, and former values in bulk changes. Those leads stay: they are somebody else.
 */
export async function eraseTimeAsOne(
  tx: Tx,
  workspaceId: string,
  leadId: string,
  eventsErased: EventsErased,
): Promise<{ removed: Removed; hasMore: boolean }> {
  const merges = await tx<UndoneMerge[]>`
    select m.id, m.kept_id, m.merged_at, m.undone_at, e.id as told_by
    from lead_merges m
    cross join lateral (
      select id
      from events
      where workspace_id = ${workspaceId}
        and subject_id = m.kept_id
        and part_of = 'unmerge:' || m.id
    ) as e
    where m.workspace_id = ${workspaceId}
      and m.merged_id = ${leadId}
      and m.undone_at is not null
    order by m.id`
  for (const { kept_id: keptId, merged_at: from, undone_at: to, told_by: toldBy } of merges) {
    const span = { from: firstIdAt(from), below: toldBy }
    const erased = await eraseEvents(tx, workspaceId, [keptId], eventsErased, span)
    // Counted and taken up again, as any step is: the merge is there until its lead goes.
    if ((erased.removed.events ?? 0) > 0) return { ...erased, hasMore: true }
    await tx`
      update events
      set changes = null
      where workspace_id = ${workspaceId}
        and id = ${toldBy}`
    await tx`
      update lead_bulk_items i
      set before = null
      from lead_bulk_changes c
      where c.workspace_id = ${workspaceId}
        and i.workspace_id = c.workspace_id
        and i.change_id = c.id
        and i.lead_id = ${keptId}
        and i.before is not null
        and i.left_at between ${from} and ${to}`
  }
  return { removed: {}, hasMore: false }
}
