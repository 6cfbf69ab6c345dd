import type { LeadField } from '../../data/lead-fields.ts'
import type { Lead } from '../../data/leads.ts'
import { type Column, type CustomColumn, isCustom } from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { formatValue, isNumberType } from '../../ui/format/custom-value.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'
import { type ColumnChoice, defaultChoice } from './column-choice.ts'

type Fields = readonly LeadField[]

export const columnOf = ({ key }: Pick<LeadField, 'key'>): CustomColumn => `field:${key}`
export const keyOfColumn = (id: CustomColumn): string => id.slice('field:'.length)

const fieldOf = (id: CustomColumn, fields: Fields): LeadField | undefined =>
  fields.find(({ key }) => key === keyOfColumn(id))

/** Returns the custom fields that can be columns, in order. */
export const fieldColumns = (fields: Fields): CustomColumn[] =>
  fields.filter(({ isArchived }) => !isArchived).map(columnOf)

export function columnTitle(id: Column, fields: Fields): string {
  if (!isCustom(id)) return t.leads.fields[id]
  const key = keyOfColumn(id)
  return fieldOf(id, fields)?.label ?? customFieldName({ key, label: key })
}

/** Returns whether values of a column are right-aligned. */
export function isNumberColumn(id: Column, fields: Fields): boolean {
  if (!isCustom(id)) return id === 'estimatedValue' || id === 'actualValue'
  const field = fieldOf(id, fields)
  return field !== undefined && isNumberType(field.type)
}

/** Data for formatting custom values. */
export interface FieldFormat {
  fields: Fields
  currency: string | null
}

/** Formats a custom value; undefined fields as entered. */
export const fieldText = (key: string, value: string | boolean, { fields, currency }: FieldFormat): string =>
  formatValue(fields.find((field) => field.key === key) ?? { type: typeOf(value), choices: [] }, value, currency)

/** Formats the value of a custom field column; empty without a value. */
export function fieldCell(
  id: CustomColumn,
  { customFieldValues }: Pick<Lead, 'customFieldValues'>,
  format: FieldFormat,
) {
  const key = keyOfColumn(id)
  const value = customFieldValues?.[key]
  return value === undefined || value === null ? '' : fieldText(key, value, format)
}

const typeOf = (value: string | boolean) => (typeof value === 'boolean' ? 'boolean' : 'text')

/**
 * Returns the chosen columns without archived fields; without a choice, adds the columns that the workspace shows in
 * the table.
 */
export function withFieldColumns(choice: ColumnChoice, fields: Fields): ColumnChoice {
  if (fields.length === 0) return choice
  const own = fields.filter(({ isArchived, shownIn }) => !isArchived && shownIn.includes('table')).map(columnOf)
  const away = new Set<Column>(fields.filter(({ isArchived }) => isArchived).map(columnOf))
  const shown = choice === defaultChoice ? [...choice.shown, ...own] : choice.shown.filter((id) => !away.has(id))
  return { ...choice, shown }
}
