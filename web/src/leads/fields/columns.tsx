import type { Lead } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { type Column, isCustom, type PlainColumn } from '../../shared/lead-view/conditions.ts'
import { language, t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Chip } from '../../ui/Chip.tsx'
import { amountInputText, formatAmount } from '../../ui/format/amount.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { LabelChips } from '../labels/LabelChips.tsx'
import { type FieldFormat, fieldCell } from './field-columns.ts'
import styles from './LeadTable.module.css'
import {
  formatOptionalPhone,
  phoneInputText,
  platforms,
  priorities,
  priorityTone,
  sources,
  statusTone,
} from './lead.ts'

/** Data that fields need for options, names and formats. */
export interface FieldContext extends FieldFormat {
  people: People
  statuses: readonly string[]
}

/** Fields that are edited as one line of text or chosen from options. */
export type FieldName = Exclude<PlainColumn, (typeof notBuiltIn)[number]> | 'firstName' | 'lastName'

const notBuiltIn = ['name', 'createdAt', 'updatedAt', 'labels'] as const

export const isBuiltIn = (id: Column): id is Column & FieldName =>
  !isCustom(id) && !(notBuiltIn as readonly string[]).includes(id)

/** Returns whether cells of a column can be edited in place. */
export const isCellEditable = (id: Column): boolean => id === 'labels' || isCustom(id) || isBuiltIn(id)

export const isNumeric = (id: string): boolean => id === 'estimatedValue' || id === 'actualValue'

/** Returns the options of a field; null if it is text. The empty value means none. */
export function choicesOf(
  field: FieldName,
  { people, statuses }: Pick<FieldContext, 'people' | 'statuses'>,
  now: string,
) {
  const none = { value: '', label: field === 'assignedTo' ? t.leads.nobody : t.common.none }
  if (field === 'status') {
    const all = now === '' || statuses.includes(now) ? statuses : [...statuses, now]
    return all.map((value) => ({ value, label: statusName(value) }))
  }
  if (field === 'priority') return priorities.map((value) => ({ value, label: t.lead.priorities[value] }))
  if (field === 'source') return sources.map((value) => ({ value, label: t.lead.sources[value] }))
  if (field === 'adPlatform') return [none, ...platforms.map((value) => ({ value, label: t.leads.platforms[value] }))]
  if (field !== 'assignedTo') return null
  const isGone = now !== '' && people.members.every(({ id }) => id !== now)
  return [
    none,
    ...people.members.map(({ id, name }) => ({ value: id, label: name })),
    ...(isGone ? [{ value: now, label: people.nameOf(now) ?? t.common.unknown }] : []),
  ]
}

/** Returns the value of a field as edited in an input. */
export function textOf(lead: Lead, field: FieldName): string {
  const value = lead[field]
  if (value === null) return ''
  if (typeof value === 'number') return amountInputText(value, language)
  return field === 'phone' ? phoneInputText(lead.phone) : value
}

export function cellOf(id: Exclude<Column, 'name'>, lead: Lead, context: FieldContext) {
  const { people, currency } = context
  if (isCustom(id)) return fieldCell(id, lead, context)
  switch (id) {
    case 'status':
      return <Chip tone={statusTone(lead.status)}>{statusName(lead.status)}</Chip>
    case 'priority':
      return <PriorityCell priority={lead.priority} />
    case 'source':
      return t.lead.sources[lead.source]
    case 'adPlatform':
      return lead.adPlatform === null ? '' : t.leads.platforms[lead.adPlatform]
    case 'assignedTo':
      return <Assignee name={people.nameOf(lead.assignedTo)} />
    case 'labels':
      return <LabelChips ids={lead.labelIds ?? []} />
    case 'phone':
      return formatOptionalPhone(lead.phone)
    case 'estimatedValue':
    case 'actualValue':
      return lead[id] === null ? '' : formatAmount(lead[id], currency)
    case 'createdAt':
    case 'updatedAt':
      return <span title={formatDateTime(lead[id])}>{formatShortTime(lead[id])}</span>
    default:
      return lead[id] ?? ''
  }
}

// Normal priority has no color.
function PriorityCell({ priority }: Pick<Lead, 'priority'>) {
  const tone = priorityTone(priority)
  return tone === 'plain' ? t.lead.priorities[priority] : <Chip tone={tone}>{t.lead.priorities[priority]}</Chip>
}

function Assignee({ name }: { name: string | null }) {
  if (name === null) return null
  return (
    <span className={styles.person}>
      <Avatar name={name} size={20} />
      <span className={styles.text}>{name}</span>
    </span>
  )
}
