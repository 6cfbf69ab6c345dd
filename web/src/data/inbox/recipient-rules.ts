/** Somebody to write to. */
export interface RecipientMatch {
  name: string
  /** How a template greets them; empty when nobody knows. */
  firstName: string
  /** Digits with country code, or as it was typed; null for a lead without one. */
  phone: string | null
  email: string | null
}

interface FoundLead {
  firstName: string
  lastName: string | null
  phone: string | null
  email: string | null
}

interface FoundConversation {
  contact: { name: string | null; phone: string | null }
}

/** A lead as an event tells of it. */
export interface ChangedLead {
  id: string
  firstName: string
  lastName: string | null
  phone: string | null
  /** Of a deleted one. */
  deletedAt?: string | null
}

interface NamedConversation extends FoundConversation {
  leadId: string | null
}

/** Whether any of these conversations' customers may be called otherwise, now that these leads were made, changed, deleted or restored. */
export function isAnyRenamed(conversations: Iterable<NamedConversation>, leads: readonly ChangedLead[]): boolean {
  const byId = new Map(leads.map((lead) => [lead.id, lead]))
  const byNumber = new Map(leads.flatMap((lead) => (lead.phone === null ? [] : [[numberSuffix(lead.phone), lead]])))
  for (const { contact, leadId } of conversations) {
    const { name, phone } = contact
    const end = phone === null ? null : numberSuffix(phone)
    const own = leadId === null ? undefined : byId.get(leadId)
    // One that was merged is known by numbers beside its own.
    if (own !== undefined && (own.deletedAt || nameOf(own) !== name || numberSuffix(own.phone ?? '') !== end))
      return true
    const other = end === null ? undefined : byNumber.get(end)
    if (other !== undefined && !other.deletedAt && other.id !== leadId) return true
  }
  return false
}

const nameOf = ({ firstName, lastName }: Pick<FoundLead, 'firstName' | 'lastName'>): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** Whom a few words have found: leads first, then customers who are none; each number once. */
export function recipientMatches(
  leads: readonly FoundLead[],
  conversations: readonly FoundConversation[],
): RecipientMatch[] {
  const people = leads.map(({ firstName, lastName, phone, email }): RecipientMatch => {
    return { name: nameOf({ firstName, lastName }), firstName, phone, email }
  })
  for (const { contact } of conversations) {
    const { phone } = contact
    if (phone === null || people.some((one) => one.phone !== null && isSameNumber(one.phone, phone))) continue
    const name = contact.name?.trim() ?? ''
    people.push({ name, firstName: name.split(/\s/, 1)[0] ?? '', phone, email: null })
  }
  return people
}

/** The digits of a phone number that was typed whole; null for anything else. */
export function digitsOf(typed: string): string | null {
  if (!/^[+(\d][\d\s()./+-]*$/.test(typed)) return null
  const digits = typed.replaceAll(/\D/g, '')
  return digits.length >= minDigits && digits.length <= maxDigits ? digits : null
}

const [minDigits, maxDigits] = [8, 20]

/**
 * Whether two spellings, of which a search for one has found the other, are of one number. Countries have changed what stands
 * before the last eight digits, and people leave the country out.
 */
export const isSameNumber = (one: string, other: string): boolean => numberSuffix(one) === numberSuffix(other)

const numberSuffix = (phone: string): string => phone.replaceAll(/\D/g, '').slice(-minDigits)
