import { setImmediate } from 'node:timers/promises'
import type { Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import type { CustomField } from '../../lead/custom-fields.ts'
import { type LeadRow, openPerson } from '../../lead/encrypted-lead.ts'
import { anyWorkspace } from '../../lead/queries.ts'
import { matchesTerm } from '../../lead/search-lines.ts'
import { arePlain, filterCondition, leadsOf, noConditions } from '../filter-sql.ts'
import type { Found, Wanted } from '../list-filter.ts'
import { type Conditions, type ReadableLead, testOf } from './conditions.ts'
import { comparePlaces, type Place, placeKeyOf } from './order.ts'

/** Columns of a lead that orders and conditions use. */
interface OpenableRow extends Omit<LeadRow, 'notes' | 'deleted_at'> {
  has_notes: boolean
  /** Set only if a condition uses labels. */
  label_ids?: string[] | null
}

const openableColumns = (sql: Sql) => sql`
  l.id,
  l.unique_code,
  l.external_ref,
  l.status,
  l.priority,
  l.source,
  l.ad_platform,
  l.assigned_to,
  l.estimated_value,
  l.actual_value,
  l.person,
  l.custom_fields,
  l.notes is not null as has_notes,
  l.created_at,
  l.updated_at`

const asksLabels = ({ list }: Conditions): boolean => list.some(({ column }) => column === 'labels')

const labelColumn = (sql: Sql, workspaceId: string) => sql`,
  (
    select array_agg(x.label_id)
    from lead_labels x
    where x.workspace_id = ${anyWorkspace(sql, workspaceId)}
      and x.lead_id = l.id
  ) as label_ids`

const stretch = 1000

/** Decrypts and sorts all matching leads and returns a page; null if there are more than `most`. */
export async function openPlaces(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { filter, conditions, term, arrangement, after, offset, limit }: Wanted,
  most: number,
): Promise<Found | null> {
  // Evaluates plain conditions in SQL before decrypting.
  const plain = {
    match: conditions.match,
    list: conditions.list.filter((one) => arePlain({ match: 'all', list: [one] })),
  }
  const fits = () => filterCondition(sql, workspaceId, filter, conditions.match === 'all' ? plain : noConditions)
  // Counts before decrypting: 20,000 leads take a core as long as a request may take.
  const [beyond] = await sql`
    select 1
    from ${leadsOf(sql, workspaceId, filter)}
    where ${fits()}
    offset ${most}
    limit 1`
  if (beyond !== undefined) return null
  const rows = sql<OpenableRow[]>`
    select ${openableColumns(sql)} ${asksLabels(conditions) ? labelColumn(sql, workspaceId) : sql``}
    from ${leadsOf(sql, workspaceId, filter)}
    where ${fits()}
    limit ${most + 1}`.cursor(stretch)
  const places: Place[] = []
  const keyOf = placeKeyOf(arrangement)
  const test = testOf(conditions)
  let opened = 0
  for await (const some of rows) {
    opened += some.length
    if (opened > most) return null
    for (const row of some) {
      const lead = readableRow(keyring, row)
      if (test(lead) && (term === null || matchesTerm(lead.searchable, term))) {
        places.push({ key: keyOf(lead), id: row.id })
      }
    }
    await setImmediate()
  }
  const compare = comparePlaces(arrangement.order)
  places.sort(compare)
  const behind = after === null ? offset : places.findIndex((place) => compare(place, after) > 0)
  const start = behind === -1 ? places.length : behind
  return { places: places.slice(start, start + limit), total: places.length }
}

function readableRow(keyring: Keyring, row: OpenableRow) {
  const [firstName, lastName, email, phone, contacts] = openPerson(keyring, row.id, row.person)
  const { unique_code: uniqueCode, external_ref: externalRef } = row
  const texts = { name: nameOf(firstName, lastName), email, phone, uniqueCode, externalRef }
  const choices = {
    status: row.status,
    priority: row.priority,
    source: row.source,
    adPlatform: row.ad_platform,
    assignedTo: row.assigned_to,
  }
  let fields: Map<string, string> | null = null
  return {
    searchable: { firstName, lastName, email, phone, contacts, uniqueCode, externalRef },
    text: (column) => texts[column] ?? '',
    choice: (column) => choices[column],
    number: (column) => {
      if (column === 'createdAt') return row.created_at.getTime()
      if (column === 'updatedAt') return row.updated_at.getTime()
      return column === 'estimatedValue' ? row.estimated_value : row.actual_value
    },
    hasNotes: () => row.has_notes,
    labels: () => row.label_ids ?? [],
    field: (key) => {
      fields ??= new Map(customTexts(keyring, row))
      // A field created from a query parameter is also found without its `k_` prefix.
      return fields.get(key) ?? fields.get(`k_${key}`) ?? ''
    },
  } satisfies ReadableLead & { searchable: object }
}

export const nameOf = (firstName: string, lastName: string | null): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** The custom fields of a lead as texts, by key. */
export function customTexts(
  keyring: Keyring,
  row: Pick<OpenableRow, 'id' | 'custom_fields'>,
): [key: string, text: string][] {
  if (row.custom_fields === null) return []
  const place = { table: 'leads', row: row.id, column: 'custom_fields' }
  const fields = JSON.parse(keyring.decryptText(place, row.custom_fields)) as CustomField[]
  return fields.map(({ key, value }) => [key, String(value)])
}
