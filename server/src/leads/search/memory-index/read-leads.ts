import type { Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import type { Vault } from '../../../base/sealing/vault.ts'
import { type LeadRow, openPerson } from '../../lead/sealed.ts'
import { customTexts } from '../arranged/opened.ts'
import { leadText } from './indexed-text.ts'
import { valuesText } from './lead-values.ts'
import type { IndexedLead } from './memory-index.ts'
import type { Held } from './segment.ts'

/** What an index needs of a lead. */
export type ImageRow = Pick<
  LeadRow,
  'id' | 'status' | 'priority' | 'source' | 'ad_platform' | 'assigned_to' | 'created_at' | 'updated_at' | 'deleted_at'
> &
  Partial<NamedColumns> & { values?: ValueColumns | null }

/** What any index needs beside it but one of columns alone. */
type NamedColumns = Pick<LeadRow, 'unique_code' | 'external_ref' | 'person'>

/** What an index of values needs beside these. */
interface ValueColumns {
  estimated: number | null
  actual: number | null
  /** In base64. */
  custom: string | null
  notes: boolean
}

export type Holds = Held | undefined

export const imageColumns = (sql: Sql, holds: Holds) => sql`
  l.id,
  l.status,
  l.priority,
  l.source,
  l.ad_platform,
  l.assigned_to,
  l.created_at,
  l.updated_at,
  l.deleted_at
  ${holds === 'columns' ? sql`` : namedColumns(sql)}
  ${holds === 'values' ? valueColumns(sql) : sql``}`

const namedColumns = (sql: Sql) => sql`,
  l.unique_code,
  l.external_ref,
  l.person`

const valueColumns = (sql: Sql) => sql`,
  json_build_object(
    'estimated', l.estimated_value,
    'actual', l.actual_value,
    'custom', encode(l.custom_fields, 'base64'),
    'notes', l.notes is not null
  ) as values`

/** Makes of rows of live leads what an index takes. */
export async function openRows(
  vault: Vault,
  workspaceId: string,
  rows: readonly ImageRow[],
  holds: Holds,
): Promise<IndexedLead[]> {
  if (rows.length === 0) return []
  if (holds === 'columns') return rows.map((row) => ({ ...plainOf(row), text: '' }))
  return vault.withKeyring(workspaceId, (keyring) => rows.map((row) => openRow(keyring, row)))
}

const plainOf = (row: ImageRow) => ({
  id: row.id,
  created: row.created_at.getTime(),
  updated: row.updated_at.getTime(),
  status: row.status,
  priority: row.priority,
  source: row.source,
  adPlatform: row.ad_platform,
  assignee: row.assigned_to,
})

function openRow(keyring: Keyring, row: ImageRow): IndexedLead {
  const { unique_code: uniqueCode, external_ref: externalRef = null, person, values } = row
  if (uniqueCode === undefined || person === undefined) throw new Error('A lead was read without its names')
  const [firstName, lastName, email, phone, contacts, formerPhones] = openPerson(keyring, row.id, person)
  const texts = { firstName, lastName, email, phone, contacts, formerPhones, uniqueCode, externalRef }
  if (values == null) return { ...plainOf(row), text: leadText(texts) }
  const custom = values.custom === null ? null : Buffer.from(values.custom, 'base64')
  return {
    ...plainOf(row),
    estimated: values.estimated,
    actual: values.actual,
    text: valuesText({
      ...texts,
      hasNotes: values.notes,
      customTexts: customTexts(keyring, { id: row.id, custom_fields: custom }),
    }),
  }
}

/** The live leads of a workspace, counted up to so many: beyond these the rest is of no account. */
export async function countLive(sql: Sql, workspaceId: string, atMost: number): Promise<number> {
  const [row] = await sql<{ live: number }[]>`
    select count(*)::integer as live
    from (
      select
      from leads
      where workspace_id = ${workspaceId}
        and deleted_at is null
      limit ${atMost}
    ) as l`
  return row?.live ?? 0
}

const batch = 2000

/** Every live lead, oldest first, in batches. A lead that changes meanwhile is read before or after its change. */
export async function* readLive(
  sql: Sql,
  vault: Vault,
  workspaceId: string,
  holds: Holds,
): AsyncGenerator<IndexedLead[]> {
  const select = (last: ImageRow | undefined) => sql<ImageRow[]>`
    select ${imageColumns(sql, holds)}
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.deleted_at is null
      ${last === undefined ? sql`` : sql`and (l.created_at, l.id) > (${last.created_at}::timestamptz, ${last.id}::uuid)`}
    order by l.created_at, l.id
    limit ${batch}`
  let next = select(undefined).execute()
  for (;;) {
    const rows = await next
    // The database reads on while these are opened.
    if (rows.length === batch) next = select(rows.at(-1)).execute()
    yield await openRows(vault, workspaceId, rows, holds)
    if (rows.length < batch) return
  }
}
