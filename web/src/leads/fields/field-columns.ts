import type { LeadField } from '../../data/lead-fields.ts'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { formatValue, isNumberType } from '../../ui/format/custom-value.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'
import { type ColumnChoice, type ColumnId, defaultChoice, type FieldColumn, isFieldColumn } from './column-choice.ts'

type Fields = readonly LeadField[]

export const columnOf = ({ key }: Pick<LeadField, 'key'>): FieldColumn => `field:${key}`
export const keyOfColumn = (id: FieldColumn): string => id.slice('field:'.length)

const fieldOf = (id: FieldColumn, fields: Fields): LeadField | undefined =>
  fields.find(({ key }) => key === keyOfColumn(id))

/** Returns the custom fields that can be columns, in order. */
export const fieldColumns = (fields: Fields): FieldColumn[] =>
  fields.filter(({ isArchived }) => !isArchived).map(columnOf)

export function columnTitle(id: ColumnId, fields: Fields): string {
  if (!isFieldColumn(id)) return t.leads.fields[id]
  const key = keyOfColumn(id)
  return fieldOf(id, fields)?.label ?? customFieldName({ key, label: key })
}

/** Returns whether values of a column are right-aligned. */
export function isNumberColumn(id: ColumnId, fields: Fields): boolean {
  if (!isFieldColumn(id)) return id === 'estimatedValue' || id === 'actualValue'
  const field = fieldOf(id, fields)
  return field !== undefined && isNumberType(field.type)
}

/** Formats the value of a custom field column; undefined fields as entered. */
export function fieldCell(
  id: FieldColumn,
  lead: Pick<Lead, 'customFieldValues'>,
  fields: Fields,
  currency: string | null,
): string {
  const key = keyOfColumn(id)
  const value = lead.customFieldValues?.[key]
  return value === undefined || value === null ? '' : fieldText(key, value, { fields, currency })
}

/** Data for formatting custom values. */
export interface FieldFormat {
  fields: Fields
  currency: string | null
}

/** Formats a custom value; undefined fields as entered. */
export const fieldText = (key: string, value: string | boolean, { fields, currency }: FieldFormat): string =>
  formatValue(fields.find((field) => field.key === key) ?? { type: typeOf(value), choices: [] }, value, currency)

const typeOf = (value: string | boolean) => (typeof value === 'boolean' ? 'boolean' : 'text')

/**
 * Returns the chosen columns without archived fields; without a choice, adds the columns that the workspace shows in
 * the table.
 */
export function withFieldColumns(choice: ColumnChoice, fields: Fields): ColumnChoice {
  if (fields.length === 0) return choice
  const own = fields.filter(({ isArchived, shownIn }) => !isArchived && shownIn.includes('table')).map(columnOf)
  const away = new Set<ColumnId>(fields.filter(({ isArchived }) => isArchived).map(columnOf))
  const shown = choice === defaultChoice ? [...choice.shown, ...own] : choice.shown.filter((id) => !away.has(id))
  return { ...choice, shown }
}
