import type { People } from '../../data/people.ts'
import { language, t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-words.ts'
import { number } from '../../ui/format/time.ts'
import { type Column, type Condition, isDay, kindOf, type PlainColumn } from '../fields/conditions.ts'
import type { CustomName } from '../fields/custom-columns.ts'

export function titleOf(column: Column, customs: readonly CustomName[] = []): string {
  if (kindOf(column) !== 'custom') return t.leads.fields[column as PlainColumn]
  return customs.find((one) => one.column === column)?.label ?? column.slice('field:'.length).replaceAll('_', ' ')
}

/** A condition as people say it: `Status is New or Qualified`. */
export function sentenceOf(condition: Condition, people: People, customs: readonly CustomName[] = []): string {
  const { column, operator, values } = condition
  const title = titleOf(column, customs)
  const { filtering } = t
  const words = values.map((value) => valueText(column, value, people))
  const [first = '', second = ''] = words
  switch (operator) {
    case 'is':
      return filtering.is(title, either(words))
    case 'isNot':
      return filtering.isNot(title, either(words))
    case 'contains':
      return filtering.contains(title, first)
    case 'from':
      return filtering.from(title, first)
    case 'to':
      return filtering.to(title, first)
    case 'between':
      return filtering.between(title, first, second)
    case 'last':
      return filtering.last(title, Number(values[0]))
    case 'empty':
      return filtering.empty(title)
    default:
      return filtering.notEmpty(title)
  }
}

function valueText(column: Column, value: string, people: People): string {
  if (column === 'status') return statusName(value)
  if (column === 'priority') return t.lead.priorities[value as keyof typeof t.lead.priorities] ?? value
  if (column === 'source') return t.lead.sources[value as keyof typeof t.lead.sources] ?? value
  if (column === 'adPlatform') return t.leads.platforms[value as keyof typeof t.leads.platforms] ?? value
  if (column === 'assignedTo') return people.nameOf(value) ?? ''
  if (kindOf(column) === 'number') return number(Number(value), { maximumFractionDigits: 10 })
  const mayBeDay = kindOf(column) === 'time' || kindOf(column) === 'custom'
  return mayBeDay && isDay(value) ? dayText(value) : value
}

const either = (words: readonly string[]): string =>
  new Intl.ListFormat(language, { type: 'disjunction' }).format(words)

const dayText = (day: string): string =>
  new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' }).format(
    new Date(`${day}T00:00`),
  )
