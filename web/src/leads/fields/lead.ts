import type { Lead, Platform, Priority, Source } from '../../data/leads.ts'
import { number } from '../../ui/format/time.ts'

export const priorities: readonly Priority[] = ['urgent', 'high', 'medium', 'low']
export const sources: readonly Source[] = [
  'website',
  'chat_app',
  'phone',
  'email',
  'referral',
  'social',
  'ads',
  'event',
  'other',
]
// Not read off the texts: this may be there before those of the leads are.
export const platforms: readonly Platform[] = ['meta', 'google', 'tiktok', 'linkedin', 'chatgpt', 'x', 'other']

export const nameOf = ({ firstName, lastName }: Pick<Lead, 'firstName' | 'lastName'>): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** An amount without its cents when it has none. */
export const amount = (value: number): string =>
  number(value, { minimumFractionDigits: Number.isInteger(value) ? 0 : 2, maximumFractionDigits: 2 })

export const phoneText = (phone: string | null): string =>
  phone === null ? '' : /^\d+$/.test(phone) ? `+${phone}` : phone
