import type { Db, Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, notFound } from '../../base/errors.ts'
import type { TeamActor } from '../../team/member.ts'
import type { FormerValues } from '../bulk/items.ts'
import type { LeadDeps } from '../lead/lead.ts'

export interface MergeDeps extends LeadDeps {
  /** Counts the form submissions that created or changed the lead. */
  countLeadSubmissions(sql: Sql, workspaceId: string, leadId: string): Promise<number>
}

export interface MergeRow {
  id: string
  kept_id: string
  merged_id: string
  former: Buffer | null
  moved_changes: string[] | null
  moved_notes: string[] | null
  moved_tasks: string[] | null
  moved_submissions: string[] | null
  moved_contacts: string[] | null
  marked_imports: string[] | null
  changes_count: number
  submissions_count: number
  actor_type: TeamActor['type']
  actor_id: string
  merged_at: Date
  undo_until: Date | null
  undone_at: Date | null
  left_fields: string[] | null
}

/** Changed fields of the kept lead, before and after the merge, and the name of the other lead. */
export interface MergeSnapshot {
  before: FormerValues
  after: FormerValues
  name: string
  /** Labels added to the kept lead; absent in merges from before labels were recorded. */
  labels?: string[]
}

const undoDays = 30
export const undoMs = undoDays * 86_400_000

const mergeContext = (id: string) => ({ table: 'lead_merges', row: id, column: 'former' })

export const encryptSnapshot = (keyring: Keyring, id: string, former: MergeSnapshot): Buffer =>
  keyring.encrypt(mergeContext(id), JSON.stringify({ ...former, ...withoutContacts(former) }))

// Contacts are rows of their own, which move back by id, and may also come from other merges.
const withoutContacts = ({ before, after }: MergeSnapshot): Pick<MergeSnapshot, 'before' | 'after'> => {
  const [{ contacts: _, ...own }, { contacts: __, ...got }] = [before, after]
  return { before: own, after: got }
}

export const decryptSnapshot = (keyring: Keyring, id: string, ciphertext: Buffer): MergeSnapshot =>
  JSON.parse(keyring.decryptText(mergeContext(id), ciphertext)) as MergeSnapshot

export const mergeNotFound = (): ApiError => notFound('Merge not found')

const maxListed = 100

/** Returns the merges into a lead that were not undone, of all leads or one, newest first, at most 100. */
export function listMerges(sql: Sql, workspaceId: string, keptId: string, mergedId?: string): PromiseLike<MergeRow[]> {
  return sql<MergeRow[]>`
    select *
    from lead_merges
    where workspace_id = ${workspaceId}
      and kept_id = ${keptId}
      ${mergedId === undefined ? sql`` : sql`and merged_id = ${mergedId}`}
      and undone_at is null
    order by id desc
    limit ${maxListed}`
}

/**
 * Returns the live lead that a merged lead ended up in, through further merges if any, and the first merge. Returns
 * null if the lead was not merged or is live, or if the final lead is deleted.
 */
export async function findMergedInto(
  sql: Sql,
  workspaceId: string,
  mergedId: string,
): Promise<{ leadId: string; merge: MergeRow } | null> {
  const latestMerge = (id: Fragment) => sql`
    select *
    from lead_merges m
    where m.workspace_id = ${workspaceId}
      and m.merged_id = ${id}
      and m.undone_at is null
    order by m.id desc
    limit 1`
  const [end] = await sql<{ id: string }[]>`
    with recursive way (id) as (
      select ${mergedId}::uuid
      union
      select m.kept_id
      from way w
      join leads l
        on l.workspace_id = ${workspaceId}
        and l.id = w.id
        and l.deleted_at is not null
      cross join lateral (${latestMerge(sql`w.id`)}) m
    )
    select w.id
    from way w
    join leads l
      on l.workspace_id = ${workspaceId}
      and l.id = w.id
      and l.deleted_at is null
    where w.id <> ${mergedId}`
  const [merge] = await sql<MergeRow[]>`${latestMerge(sql`${mergedId}::uuid`)}`
  return end === undefined || merge === undefined ? null : { leadId: end.id, merge }
}

export async function readMerge(sql: Sql, workspaceId: string, id: string, lock = sql``): Promise<MergeRow> {
  const [row] = await sql<MergeRow[]>`
    select *
    from lead_merges
    where workspace_id = ${workspaceId}
      and id = ${id}
    ${lock}`
  if (row === undefined) throw mergeNotFound()
  return row
}

/** SQL, for `set`: a merge without the data to undo it. */
export const withoutSnapshot = (sql: Sql) => sql`
  former = null,
  moved_changes = null,
  moved_notes = null,
  moved_tasks = null,
  moved_submissions = null,
  moved_contacts = null,
  marked_imports = null,
  undo_until = null`

const batch = 500

/** Deletes the undo data of merges whose undo period is over; the merges stay on record. Returns their number. */
export async function deleteExpiredSnapshots(db: Db, now: Date): Promise<number> {
  const old = await db.sql<{ workspace_id: string; id: string }[]>`
    select workspace_id, id
    from lead_merges
    where undo_until <= ${now}
    limit ${batch}`
  let deleted = 0
  for (const [workspaceId, rows] of Map.groupBy(old, (row) => row.workspace_id)) {
    const ids = rows.map(({ id }) => id)
    const { count } = await db.statement(
      (tx) => tx`
        update lead_merges
        set ${withoutSnapshot(tx)}
        where workspace_id = ${workspaceId}
          and id = any (${ids}::uuid[])
          and undo_until <= ${now}`,
    )
    deleted += count
  }
  return deleted
}
