import { adPlatformValues, leadPriorityValues, leadSourceValues } from '../../api/schema.ts'
import type { Lead, Platform, Priority, Source } from '../../data/leads.ts'
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
