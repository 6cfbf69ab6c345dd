import type { Sql } from '../../../base/db.ts'
import type { Vault } from '../../../base/sealing/vault.ts'
import { type LeadRow, openPerson } from '../../lead/sealed.ts'
import { customTexts } from '../arranged/opened.ts'
import { leadText } from './indexed-text.ts'
import { valuesText } from './lead-values.ts'
import type { IndexedLead } from './memory-index.ts'

/** What an index needs of a lead. */
export type ImageRow = Pick<
  LeadRow,
  | 'id'
  | 'unique_code'
  | 'external_ref'
  | 'status'
  | 'priority'
  | 'source'
  | 'ad_platform'
  | 'assigned_to'
  | 'person'
  | 'created_at'
  | 'updated_at'
  | 'deleted_at'
> & { values?: ValueColumns | null }

/** What an index of values needs beside it. */
interface ValueColumns {
  estimated: number | null
  actual: number | null
  /** In base64. */
  custom: string | null
  notes: boolean
}

export type Holds = 'text' | 'values' | undefined

export const imageColumns = (sql: Sql, holds: Holds) => sql`
  l.id,
  l.unique_code,
  l.external_ref,
  l.status,
  l.priority,
  l.source,
  l.ad_platform,
  l.assigned_to,
  l.person,
  l.created_at,
  l.updated_at,
  l.deleted_at
  ${holds === 'values' ? valueColumns(sql) : sql``}`

const valueColumns = (sql: Sql) => sql`,
  json_build_object(
    'estimated', l.estimated_value,
    'actual', l.actual_value,
    'custom', encode(l.custom_fields, 'base64'),
    'notes', l.notes is not null
  ) as values`

/** Opens rows of live leads. */
export async function openRows(vault: Vault, workspaceId: string, rows: readonly ImageRow[]): Promise<IndexedLead[]> {
  if (rows.length === 0) return []
  return vault.withKeyring(workspaceId, (keyring) =>
    rows.map((row) => {
      const [firstName, lastName, email, phone, contacts] = openPerson(keyring, row.id, row.person)
      const { unique_code: uniqueCode, external_ref: externalRef } = row
      const texts = { firstName, lastName, email, phone, contacts, uniqueCode, externalRef }
      return {
        id: row.id,
        created: row.created_at.getTime(),
        updated: row.updated_at.getTime(),
        status: row.status,
        priority: row.priority,
        source: row.source,
        adPlatform: row.ad_platform,
        assignee: row.assigned_to,
        ...(row.values == null
          ? { text: leadText(texts) }
          : {
              estimated: row.values.estimated,
              actual: row.values.actual,
              text: valuesText({
                ...texts,
                hasNotes: row.values.notes,
                customTexts: customTexts(keyring, {
                  id: row.id,
                  custom_fields: row.values.custom === null ? null : Buffer.from(row.values.custom, 'base64'),
                }),
              }),
            }),
      }
    }),
  )
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
    yield await openRows(vault, workspaceId, rows)
    if (rows.length < batch) return
  }
}
