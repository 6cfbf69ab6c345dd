import type { TimelineEntry } from '../../data/lead/timeline.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { formatAmount } from '../../ui/format/amount.ts'
import { customFieldName, statusName } from '../../ui/format/lead-texts.ts'
import { formatPhone } from '../../ui/format/phone.ts'
import { isFieldColumn } from '../fields/column-choice.ts'
import { type FieldFormat, fieldText, keyOfColumn } from '../fields/field-columns.ts'

type Change = TimelineEntry['changes'][number]

/** Describes a change of a field. */
export function changeText(change: Change, people: People, fieldFormat: FieldFormat): string {
  const wordsOf = (value: Change['from']) => valueText(change, value, people, fieldFormat)
  const [from, to] = [wordsOf(change.from), wordsOf(change.to)]
  if (change.field === 'status') return t.leads.panel.change({ from, to })
  return t.leadPage.changed({ field: fieldName(change), from, to })
}

function fieldName({ field, label }: Change): string {
  if (!field.startsWith('field:')) return t.leads.fields[field as keyof typeof t.leads.fields] ?? field
  const key = field.slice('field:'.length)
  return customFieldName({ key, label: label ?? key })
}

function valueText({ field }: Change, value: Change['from'], people: People, fieldFormat: FieldFormat): string {
  if (value === null || value === '') return t.leadPage.nothing
  if (typeof value === 'boolean') return value ? t.leadPage.yes : t.leadPage.no
  if (typeof value === 'number') return formatAmount(value, fieldFormat.currency)
  if (isFieldColumn(field)) return fieldText(keyOfColumn(field), value, fieldFormat)
  switch (field) {
    case 'status':
      return statusName(value)
    case 'priority':
      return t.lead.priorities[value as keyof typeof t.lead.priorities] ?? value
    case 'source':
      return t.lead.sources[value as keyof typeof t.lead.sources] ?? value
    case 'adPlatform':
      return t.leads.platforms[value as keyof typeof t.leads.platforms] ?? value
    case 'assignedTo':
      return people.nameOf(value) ?? value
    case 'phone':
      return formatPhone(value)
    default:
      return value
  }
}

/** Describes who did it, and as part of what; null if unknown. */
export function actorText({ actor, partOf, kind, message }: TimelineEntry, people: People): string | null {
  if (kind === 'message' && message?.direction === 'inbound') return t.leadPage.customer
  const part = partText(partOf)
  const name = actor === null ? (kind === 'message' ? t.leadPage.ourTeam : null) : actorName(actor, people)
  return name === null ? part : part === null ? name : `${name} ${part}`
}

/** Returns the name of the actor, if known. */
export function actorName({ type, id }: NonNullable<TimelineEntry['actor']>, people: People): string {
  const name = type === 'form' || type === 'system' ? null : people.nameOf(id)
  return name === null || name === t.common.unknown ? t.leads.actors[type] : name
}

function partText(partOf: string | null): string | null {
  const part = partOf?.split(':')[0] ?? ''
  const { parts } = t.leadPage
  return part in parts ? parts[part as keyof typeof parts] : null
}

/** Returns the kind of the file of a message. */
export const fileText = (file: string): string => t.media.kinds[file as keyof typeof t.media.kinds] ?? file
