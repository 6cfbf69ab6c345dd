import { adPlatformValues, leadPriorityValues, leadSourceValues } from '../../api/schema.ts'
import type { Lead, Platform, Priority, Source } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import type { Tone } from '../../ui/Chip.tsx'
import { statusName } from '../../ui/format/lead-texts.ts'
import { dialablePhone, formatPhone } from '../../ui/format/phone.ts'

export const priorities: readonly Priority[] = leadPriorityValues.toReversed()
export const sources: readonly Source[] = leadSourceValues
// Independent of the texts, which may load later than this.
export const platforms: readonly Platform[] = adPlatformValues

export const nameOf = ({ firstName, lastName }: Pick<Lead, 'firstName' | 'lastName'>): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** Returns the phone as in inputs and when copied. */
export const phoneInputText = (phone: string | null): string => (phone === null ? '' : dialablePhone(phone))

/** Returns the phone as displayed. */
export const formatOptionalPhone = (phone: string | null): string => (phone === null ? '' : formatPhone(phone))

/** Returns a value of a field as displayed; values that no longer exist, and texts, are returned as they are. */
export function displayValue(field: string, value: string, people: People): string {
  switch (field) {
    case 'status':
      return statusName(value)
    case 'priority':
      return t.lead.priorities[value as Priority] ?? value
    case 'source':
      return t.lead.sources[value as Source] ?? value
    case 'adPlatform':
      return t.leads.platforms[value as Platform] ?? value
    case 'assignedTo':
      return people.nameOf(value) ?? value
    case 'phone':
      return formatPhone(value)
    default:
      return value
  }
}

const statusTones: Record<string, Tone> = { new: 'accent', won: 'good', lost: 'bad' }
/** Returns the color of a status; plain for statuses that the workspace added. */
export const statusTone = (status: string): Tone => statusTones[status] ?? 'plain'

const priorityTones: Partial<Record<Priority, Tone>> = { urgent: 'bad', high: 'attention' }
export const priorityTone = (priority: Priority): Tone => priorityTones[priority] ?? 'plain'
