import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Lead, LeadUser } from '../lead/lead.ts'
import { type ListDeps, listLeads } from '../search/list.ts'
import { asOf, type LeadFilter } from '../search/list-filter.ts'
import { type BulkChangeRow, changeFrom, leaseEnd } from './bulk-changes.ts'

/** What became of a lead. */
export interface BulkItem {
  leadId: string
  outcome: 'created' | 'changed' | 'unchanged' | 'deleted' | 'failed'
  before: FormerValues | FormerLabels | null
  /** The time that the lead was left with, by which a later change shows. */
  leftAt: Date | null
}

/** Fields of a lead as they were. */
export type FormerValues = Partial<Omit<Lead, 'id' | 'formerPhones' | 'createdAt' | 'updatedAt' | 'deletedAt'>>

/** Labels that a lead got, and labels that it lost. */
interface FormerLabels {
  labels: { added: string[]; removed: string[] }
}

export const bulkItemPlace = (changeId: string, leadId: string) => ({
  table: 'lead_bulk_items',
  row: changeId,
  column: `before ${leadId}`,
})

export function openFormerValues(keyring: Keyring, changeId: string, leadId: string, sealed: Buffer): FormerValues {
  return JSON.parse(keyring.decryptText(bulkItemPlace(changeId, leadId), sealed)) as FormerValues
}

/** What was noted of a lead whose labels were changed. */
export const openBefore = (keyring: Keyring, changeId: string, leadId: string, sealed: Buffer): Partial<FormerLabels> =>
  openFormerValues(keyring, changeId, leadId, sealed) as Partial<FormerLabels>

/** The values of `before` that `after` has others of. */
export function formerValues(before: Lead, after: Lead): FormerValues {
  const { id: _, formerPhones: __, createdAt: ___, updatedAt: ____, deletedAt: _____, ...fields } = before
  const changed = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name as keyof Lead]),
  )
  return Object.fromEntries(changed)
}

/** Notes that these leads wait for their turn. */
export async function putWaiting(tx: Tx, workspaceId: string, changeId: string, ids: readonly string[]): Promise<void> {
  await tx`
    insert into lead_bulk_items (workspace_id, change_id, lead_id)
    select ${workspaceId}::uuid, ${changeId}::uuid, i.id
    from unnest(${[...ids]}::uuid[]) as i (id)
    on conflict do nothing`
}

export interface ItemRow {
  lead_id: string
  outcome: BulkItem['outcome'] | null
  before: Buffer | null
  left_at: Date | null
}

/** The next leads after a position, in the order of their ids. */
export async function nextItems(
  sql: Sql,
  workspaceId: string,
  changeId: string,
  after: string | null,
  limit: number,
): Promise<ItemRow[]> {
  return sql<ItemRow[]>`
    select lead_id, outcome, before, left_at
    from lead_bulk_items
    where workspace_id = ${workspaceId}
      and change_id = ${changeId}
      ${after === null ? sql`` : sql`and lead_id > ${after}::uuid`}
    order by lead_id
    limit ${limit}`
}

/** Notes what became of leads. Of a lead that had its turn before, what it was like before the first stays. */
export async function putItems(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  changeId: string,
  items: readonly BulkItem[],
): Promise<void> {
  if (items.length === 0) return
  const sealed = items.map(({ leadId, before }) =>
    before === null ? null : keyring.encrypt(bulkItemPlace(changeId, leadId), JSON.stringify(before)),
  )
  await tx`
    insert into lead_bulk_items as i (workspace_id, change_id, lead_id, outcome, before, left_at)
    select ${workspaceId}::uuid, ${changeId}::uuid, r.*
    from unnest(
      ${items.map(({ leadId }) => leadId)}::uuid[], ${items.map(({ outcome }) => outcome)}::text[],
      ${byteaArray(sealed)}::bytea[], ${timestampArray(items.map(({ leftAt }) => leftAt))}::timestamptz[]
    ) as r (lead_id, outcome, before, left_at)
    on conflict (workspace_id, change_id, lead_id)
    do update set outcome = excluded.outcome,
      before = excluded.before,
      left_at = excluded.left_at`.execute()
}

const pageLeads = 500
/** As many as a workspace of the largest kind has. */
const maxCollected = 1_000_000

const filterPlace = (changeId: string) => ({ table: 'lead_bulk_changes', row: changeId, column: 'filter' })

export const sealFilter = (keyring: Keyring, changeId: string, filter: LeadFilter): Buffer =>
  keyring.encrypt(filterPlace(changeId), JSON.stringify(filter))

const timed = ['createdFrom', 'createdTo', 'updatedFrom', 'updatedTo'] as const

function openFilter(keyring: Keyring, { id, created_at }: BulkChangeRow, sealed: Buffer): LeadFilter {
  const filter = JSON.parse(keyring.decryptText(filterPlace(id), sealed)) as LeadFilter
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
  const keyring = await deps.keyStore.keyring(workspaceId)
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
    const changes = tx`
      total = total + ${page.leads.length},
      cursor = ${isLast ? null : page.nextCursor},
      filter = case when ${isLast} then null else filter end,
      state = case when ${isLast} then 'running' else state end,
      due_at = ${leaseEnd(deps.clock.now())},
      attempts = 0`
    const moved = await changeFrom(tx, row, changes, tx`cursor is not distinct from ${row.cursor}::text`)
    if (moved === null) return null
    await putWaiting(
      tx,
      workspaceId,
      id,
      page.leads.map((lead) => lead.id),
    )
    return moved
  })
}
