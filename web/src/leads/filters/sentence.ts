import type { People } from '../../data/people.ts'
import {
  type Column,
  type Condition,
  isCustom,
  isDay,
  kindOf,
  type PlainColumn,
} from '../../shared/lead-view/conditions.ts'
import { language, t } from '../../text/index.ts'
import { formatAmount } from '../../ui/format/amount.ts'
import { formatValue } from '../../ui/format/custom-value.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'
import type { CustomColumnInfo } from '../fields/custom-columns.ts'
import { keyOfColumn } from '../fields/field-columns.ts'
import { displayValue } from '../fields/lead.ts'

/** Names for the values of conditions. */
export interface ValueNames {
  people: People
  customs: readonly CustomColumnInfo[]
  labels: ReadonlyMap<string, { name: string }>
  currency: string | null
}

export function titleOf(column: Column, customs: readonly CustomColumnInfo[]): string {
  if (column === 'labels') return t.filtering.label
  if (!isCustom(column)) return t.leads.fields[column as PlainColumn]
  const key = keyOfColumn(column)
  return customs.find((one) => one.column === column)?.label ?? customFieldName({ key, label: key })
}

/** Formats a condition, such as `Status is New or Qualified`. */
export function describeCondition(condition: Condition, names: ValueNames): string {
  const { column, operator, values } = condition
  const title = titleOf(column, names.customs)
  const text = values.map((value) => valueText(column, value, names))
  const [value = '', to = ''] = text
  const isOfDays = (operator === 'from' || operator === 'to') && mayHaveDays(column) && isDay(values[0] ?? '')
  const describe = t.filtering[isOfDays ? (`${operator}Day` as const) : operator]
  return describe({ field: title, value, from: value, to, values: either(text), days: Number(values[0]) })
}

function valueText(column: Column, value: string, { people, customs, labels, currency }: ValueNames): string {
  if (kindOf(column) === 'choice') return displayValue(column, value, people)
  if (column === 'labels') return labels.get(value)?.name ?? t.common.unknown
  const custom = customs.find((one) => one.column === column)
  if (custom?.type === 'boolean') return value === 'true' ? t.common.yes : value === 'false' ? t.common.no : value
  if (custom?.type === 'number' || custom?.type === 'amount')
    return formatValue({ ...custom, type: custom.type }, value, currency)
  if (kindOf(column) === 'number') return formatAmount(Number(value), currency)
  return mayHaveDays(column) && isDay(value) ? dayText(value) : value
}

const mayHaveDays = (column: Column): boolean => kindOf(column) === 'time' || kindOf(column) === 'custom'

const either = (text: readonly string[]): string => new Intl.ListFormat(language, { type: 'disjunction' }).format(text)

const dayText = (day: string): string =>
  new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' }).format(
    new Date(`${day}T00:00`),
  )
