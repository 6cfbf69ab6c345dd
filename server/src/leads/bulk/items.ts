import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { type ListDeps, listLeadsOnce } from '../search/list.ts'
import { type LeadFilter, resolveFilter } from '../search/list-filter.ts'
import { type BulkChangeRow, type BulkProgress, leaseEnd, updateIfUnchanged } from './bulk-changes.ts'

/** Outcome of a bulk change for one lead. */
export interface BulkItem {
  leadId: string
  outcome: 'created' | 'changed' | 'unchanged' | 'deleted' | 'failed'
  before: FormerValues | FormerLabels | null
  /** `updatedAt` of the lead after the change; a different value shows a later change. */
  leftAt: Date | null
}

export type FormerValues = Partial<Omit<Lead, 'id' | 'formerPhones' | 'createdAt' | 'updatedAt' | 'deletedAt'>>

export interface FormerLabels {
  labels: { added: string[]; removed: string[] }
}

export const bulkItemContext = (changeId: string, leadId: string) => ({
  table: 'lead_bulk_items',
  row: changeId,
  column: `before ${leadId}`,
})

export function decryptFormerValues(
  keyring: Keyring,
  changeId: string,
  leadId: string,
  ciphertext: Buffer,
): FormerValues {
  return JSON.parse(keyring.decryptText(bulkItemContext(changeId, leadId), ciphertext)) as FormerValues
}

/** Returns the values of `before` that differ in `after`. */
export function formerValues(before: Lead, after: Lead): FormerValues {
  const { id: _, formerPhones: __, createdAt: ___, updatedAt: ____, deletedAt: _____, ...fields } = before
  const changed = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name as keyof Lead]),
  )
  return Object.fromEntries(changed)
}

type ChangeRef = Pick<BulkChangeRow, 'workspace_id' | 'id'>

/** Records leads as pending. */
export async function recordPending(tx: Tx, change: ChangeRef, ids: readonly string[]): Promise<void> {
  await tx`
    insert into lead_bulk_items (workspace_id, change_id, lead_id)
    select ${change.workspace_id}::uuid, ${change.id}::uuid, i.id
    from unnest(${[...ids]}::uuid[]) as i (id)
    on conflict do nothing`
}

export interface ItemRow {
  lead_id: string
  outcome: BulkItem['outcome'] | null
  before: Buffer | null
  left_at: Date | null
}

/** Number of leads per transaction. */
export const batchSize = 500

/** Returns the next leads after the position of a change, ordered by id. */
export async function nextItems(sql: Sql, { workspace_id, id, position }: BulkChangeRow): Promise<ItemRow[]> {
  return sql<ItemRow[]>`
    select lead_id, outcome, before, left_at
    from lead_bulk_items
    where workspace_id = ${workspace_id}
      and change_id = ${id}
      ${position === null ? sql`` : sql`and lead_id > ${position}::uuid`}
    order by lead_id
    limit ${batchSize}`
}

/** A batch of leads of a bulk change. */
export interface BulkBatch {
  deps: LeadDeps
  keyring: Keyring
  user: LeadUser
  row: BulkChangeRow
  items: readonly ItemRow[]
  ids: readonly string[]
  /** Records the counts of the batch in its transaction. */
  advance(tx: Tx, progress: Omit<BulkProgress, 'position'>): Promise<void>
}

/** Records the outcomes of a batch in its transaction. */
export async function recordBatch(tx: Tx, { keyring, row, advance }: BulkBatch, items: BulkItem[]): Promise<void> {
  await recordItems(tx, keyring, row, items)
  const count = (...of: BulkItem['outcome'][]) => items.filter(({ outcome }) => of.includes(outcome)).length
  await advance(tx, { changed: count('changed', 'deleted'), unchanged: count('unchanged'), failed: count('failed') })
}

/** Records the outcome for leads; replaces earlier records of the same leads. */
export async function recordItems(tx: Tx, keyring: Keyring, change: ChangeRef, items: BulkItem[]): Promise<void> {
  if (items.length === 0) return
  const ciphertext = items.map(({ leadId, before }) =>
    before === null ? null : keyring.encrypt(bulkItemContext(change.id, leadId), JSON.stringify(before)),
  )
  await tx`
    insert into lead_bulk_items as i (workspace_id, change_id, lead_id, outcome, before, left_at)
    select ${change.workspace_id}::uuid, ${change.id}::uuid, r.*
    from unnest(
      ${items.map(({ leadId }) => leadId)}::uuid[], ${items.map(({ outcome }) => outcome)}::text[],
      ${byteaArray(ciphertext)}::bytea[], ${timestampArray(items.map(({ leftAt }) => leftAt))}::timestamptz[]
    ) as r (lead_id, outcome, before, left_at)
    on conflict (workspace_id, change_id, lead_id)
    do update set outcome = excluded.outcome,
      before = excluded.before,
      left_at = excluded.left_at`.execute()
}

/** Size of the largest supported workspace. */
const maxCollected = 1_000_000

const filterContext = (changeId: string) => ({ table: 'lead_bulk_changes', row: changeId, column: 'filter' })

export const encryptFilter = (keyring: Keyring, changeId: string, filter: LeadFilter): Buffer =>
  keyring.encrypt(filterContext(changeId), JSON.stringify(filter))

const timeFields = ['createdFrom', 'createdTo', 'updatedFrom', 'updatedTo'] as const

function decryptFilter(keyring: Keyring, { id, created_at }: BulkChangeRow, ciphertext: Buffer): LeadFilter {
  const filter = JSON.parse(keyring.decryptText(filterContext(id), ciphertext)) as LeadFilter
  for (const name of timeFields) {
    const time = filter[name]
    filter[name] = time === null ? null : new Date(time)
  }
  // Leads created later were not counted when the user confirmed.
  const { createdTo } = filter
  return {
    ...resolveFilter(filter, created_at),
    createdTo: createdTo === null || createdTo > created_at ? created_at : createdTo,
  }
}

/**
 * Records the next page of leads that match the filter, oldest first. All are recorded before any is changed, so that
 * no change affects which leads match. Returns null if another worker has recorded the page.
 */
export async function collectPage(deps: ListDeps, user: LeadUser, row: BulkChangeRow): Promise<BulkChangeRow | null> {
  const keyring = await deps.keyStore.keyring(row.workspace_id)
  if (row.filter === null) throw new Error('Collecting bulk change has no filter')
  const page = await listLeadsOnce(deps, user, {
    filter: decryptFilter(keyring, row, row.filter),
    sort: { by: 'createdAt', order: 'asc' },
    limit: batchSize,
    page: 1,
    cursor: row.cursor,
  })
  const isLast = page.nextCursor === null || row.total + page.leads.length >= maxCollected
  const ids = page.leads.map((lead) => lead.id)
  return deps.db.tx(async (tx) => {
    const changes = tx`
      total = total + ${page.leads.length},
      cursor = ${isLast ? null : page.nextCursor},
      filter = case when ${isLast} then null else filter end,
      state = case when ${isLast} then 'running' else state end,
      due_at = ${leaseEnd(deps.clock.now())},
      attempts = 0`
    const updated = await updateIfUnchanged(tx, row, changes, tx`cursor is not distinct from ${row.cursor}::text`)
    if (updated === null) return null
    await recordPending(tx, row, ids)
    return updated
  })
}
