import type { Lead, Platform, Priority, Source } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { number } from '../../ui/format/time.ts'

export const priorities: readonly Priority[] = ['urgent', 'high', 'medium', 'low']
export const sources = Object.keys(t.lead.sources) as readonly Source[]
export const platforms = Object.keys(t.leads.platforms) as readonly Platform[]

export const nameOf = ({ firstName, lastName }: Pick<Lead, 'firstName' | 'lastName'>): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** An amount without its cents when it has none. */
export const amount = (value: number): string =>
  number(value, { minimumFractionDigits: Number.isInteger(value) ? 0 : 2, maximumFractionDigits: 2 })

export const phoneText = (phone: string | null): string =>
  phone === null ? '' : /^\d+$/.test(phone) ? `+${phone}` : phone
