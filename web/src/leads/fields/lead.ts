import { adPlatformValues, leadPriorityValues, leadSourceValues } from '../../api/schema.ts'
import type { Lead, Platform, Priority, Source } from '../../data/leads.ts'
import { dialablePhone, formatPhone } from '../../ui/format/phone.ts'

export const priorities: readonly Priority[] = leadPriorityValues.toReversed()
export const sources: readonly Source[] = leadSourceValues
// Not read off the texts: this may be there before those of the leads are.
export const platforms: readonly Platform[] = adPlatformValues

export const nameOf = ({ firstName, lastName }: Pick<Lead, 'firstName' | 'lastName'>): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** A phone as it stands in an input, and as it is copied. */
export const phoneInputText = (phone: string | null): string => (phone === null ? '' : dialablePhone(phone))

/** A phone as people read it. */
export const formatOptionalPhone = (phone: string | null): string => (phone === null ? '' : formatPhone(phone))
