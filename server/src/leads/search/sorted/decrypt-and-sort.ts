import { setImmediate } from 'node:timers/promises'
import type { Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import type { CustomField } from '../../lead/custom-fields.ts'
import { decryptPerson, type LeadRow } from '../../lead/encrypted-lead.ts'
import { hiddenWorkspaceId, plainColumns } from '../../lead/queries.ts'
import { matchesTerm } from '../../lead/search-lines.ts'
import { arePlainConditions, filterCondition, leadsWithLabels, noConditions } from '../filter-sql.ts'
import type { PageQuery, PageResult } from '../list-filter.ts'
import { type Conditions, compileConditions, type ReadableLead } from './conditions.ts'
import { comparePlaces, type Place, sortKeyOf } from './order.ts'

/** Columns of a lead that orders and conditions use. */
interface SortableRow extends Omit<LeadRow, 'notes'> {
  hasNotes: boolean
  /** Set only if a condition uses labels. */
  labelIds?: string[] | null
}

const sortableColumns = (sql: Sql) => sql`
  ${plainColumns(sql)}, l.person, l.custom_fields as "customFields", l.notes is not null as "hasNotes",
  l.created_at as "createdAt", l.updated_at as "updatedAt"`

const usesLabels = ({ list }: Conditions): boolean => list.some(({ column }) => column === 'labels')

const labelColumn = (sql: Sql, workspaceId: string) => sql`,
  (
    select array_agg(x.label_id)
    from lead_labels x
    where x.workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      and x.lead_id = l.id
  ) as "labelIds"`

const batchRows = 1000

/** Decrypts and sorts all matching leads and returns a page; null if there are more than `most`. */
export async function decryptAndSort(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { filter, conditions, term, sortOrder, after, offset, limit }: PageQuery,
  maxLeads: number,
): Promise<PageResult | null> {
  // Evaluates plain conditions in SQL before decrypting.
  const plain = {
    match: conditions.match,
    list: conditions.list.filter((one) => arePlainConditions({ match: 'all', list: [one] })),
  }
  const fits = () => filterCondition(sql, workspaceId, filter, conditions.match === 'all' ? plain : noConditions)
  // Counts before decrypting: 20,000 leads take a core as long as a request may take.
  const [beyond] = await sql`
    select 1
    from ${leadsWithLabels(sql, workspaceId, filter)}
    where ${fits()}
    offset ${maxLeads}
    limit 1`
  if (beyond !== undefined) return null
  const rows = sql<SortableRow[]>`
    select ${sortableColumns(sql)} ${usesLabels(conditions) ? labelColumn(sql, workspaceId) : sql``}
    from ${leadsWithLabels(sql, workspaceId, filter)}
    where ${fits()}
    limit ${maxLeads + 1}`.cursor(batchRows)
  const places: Place[] = []
  const keyOf = sortKeyOf(sortOrder)
  const test = compileConditions(conditions)
  let decrypted = 0
  for await (const batch of rows) {
    decrypted += batch.length
    if (decrypted > maxLeads) return null
    for (const row of batch) {
      const lead = toReadableLead(keyring, row)
      if (test(lead) && (term === null || matchesTerm(lead.searchable, term))) {
        places.push({ key: keyOf(lead), id: row.id })
      }
    }
    await setImmediate()
  }
  const compare = comparePlaces(sortOrder.order)
  places.sort(compare)
  const behind = after === null ? offset : places.findIndex((place) => compare(place, after) > 0)
  const start = behind === -1 ? places.length : behind
  return { places: places.slice(start, start + limit), total: places.length }
}

function toReadableLead(keyring: Keyring, row: SortableRow) {
  const [firstName, lastName, email, phone, contacts] = decryptPerson(keyring, row.id, row.person)
  const { uniqueCode, externalRef } = row
  const texts = { name: fullName(firstName, lastName), email, phone, uniqueCode, externalRef }
  let fields: Map<string, string> | null = null
  return {
    searchable: { firstName, lastName, email, phone, contacts, uniqueCode, externalRef },
    text: (column) => texts[column] ?? '',
    choice: (column) => row[column],
    number: (column) => (column === 'createdAt' || column === 'updatedAt' ? row[column].getTime() : row[column]),
    hasNotes: () => row.hasNotes,
    labels: () => row.labelIds ?? [],
    field: (key) => {
      fields ??= new Map(customTexts(keyring, row.id, row.customFields))
      // A field created from a query parameter is also found without its `k_` prefix.
      return fields.get(key) ?? fields.get(`k_${key}`) ?? ''
    },
  } satisfies ReadableLead & { searchable: object }
}

export const fullName = (firstName: string, lastName: string | null): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** The custom fields of a lead as texts, by key. */
export function customTexts(keyring: Keyring, id: string, ciphertext: Buffer | null): [key: string, text: string][] {
  if (ciphertext === null) return []
  const text = keyring.decryptText({ table: 'leads', row: id, column: 'custom_fields' }, ciphertext)
  return (JSON.parse(text) as CustomField[]).map(({ key, value }) => [key, String(value)])
}
