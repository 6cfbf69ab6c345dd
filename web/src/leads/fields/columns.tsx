import type { LeadField } from '../../data/lead-fields.ts'
import type { Lead, LeadChanges } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { language, t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Chip } from '../../ui/Chip.tsx'
import { amountInputText, formatAmount, normalizedAmount, parseAmount } from '../../ui/format/amount.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { LabelChips } from '../labels/LabelChips.tsx'
import { type ColumnId, isFieldColumn } from './column-choice.ts'
import { fieldCell } from './field-columns.ts'
import styles from './LeadTable.module.css'
import { formatOptionalPhone, phoneInputText, platforms, priorities, sources } from './lead.ts'
import { priorityTone, statusTone } from './status-color.ts'

/** What choices and names a field draws on. */
export interface FieldContext {
  people: People
  statuses: readonly string[]
  /** The custom fields that the workspace defines. */
  fields: readonly LeadField[]
  /** What amounts are in; null: nobody has said. */
  currency: string | null
}

/** Fields that are written in one line or chosen. */
export type FieldName =
  | 'status'
  | 'phone'
  | 'assignedTo'
  | 'source'
  | 'priority'
  | 'estimatedValue'
  | 'email'
  | 'adPlatform'
  | 'actualValue'
  | 'notes'
  | 'uniqueCode'
  | 'externalRef'
  | 'firstName'
  | 'lastName'

const elsewhere: readonly string[] = ['name', 'createdAt', 'updatedAt', 'labels']

export const isBuiltIn = (id: ColumnId): id is ColumnId & FieldName => !isFieldColumn(id) && !elsewhere.includes(id)

/** Whether the cells of a column are changed where they stand. */
export const isCellEditable = (id: ColumnId): boolean => id === 'labels' || isFieldColumn(id) || isBuiltIn(id)

export const isNumeric = (id: string): boolean => id === 'estimatedValue' || id === 'actualValue'

/** A field's choices; null when it is written. The empty value stands for none. */
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

/** A field as it stands in an input. */
export function textOf(lead: Lead, field: FieldName): string {
  const value = lead[field]
  if (value === null) return ''
  if (typeof value === 'number') return amountInputText(value, language)
  return field === 'phone' ? phoneInputText(lead.phone) : value
}

/** What an input says, as a change; null when it says what is there already. */
export function changesOf(lead: Lead, field: FieldName, text: string): LeadChanges | null {
  const typed = text.trim()
  if (typed === textOf(lead, field)) return null
  if (!isNumeric(field)) return { [field]: typed === '' && !isRequired(field) ? null : typed }
  return { [field]: parseAmount(typed) }
}

/** What is wrong with what was typed into a field, as far as that shows before the service is asked. */
export const validateField = (field: FieldName, text: string): string | null =>
  isNumeric(field) && parseAmount(text) === undefined ? t.lead.notAnAmount : null

/** What an amount was read as, where it is written in another way than the reader's. */
export function interpretField(field: FieldName, text: string, currency: string | null): string | null {
  const amount = isNumeric(field) ? normalizedAmount(text, language, currency) : null
  return amount === null ? null : t.lead.readAs({ amount })
}

const isRequired = (field: FieldName) => field === 'firstName' || field === 'status' || field === 'uniqueCode'

export function cellOf(id: Exclude<ColumnId, 'name'>, lead: Lead, { people, fields, currency }: FieldContext) {
  if (isFieldColumn(id)) return fieldCell(id, lead, fields, currency)
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

// What is as usual takes no colour.
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
