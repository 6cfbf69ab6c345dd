export interface RecipientMatch {
  name: string
  /** Name for greetings in templates; empty if unknown. */
  firstName: string
  /** Digits with country code, or as it was typed; null for a lead without a phone. */
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

/** A lead as in events. */
export interface ChangedLead {
  id: string
  firstName: string
  lastName: string | null
  phone: string | null
  /** Set for a deleted lead. */
  deletedAt?: string | null
}

interface NamedConversation extends FoundConversation {
  leadId: string | null
}

/** Returns whether the customer name of any of these conversations may have changed with these leads. */
export function isAnyRenamed(conversations: Iterable<NamedConversation>, leads: readonly ChangedLead[]): boolean {
  const byId = new Map(leads.map((lead) => [lead.id, lead]))
  const byNumber = new Map(leads.flatMap((lead) => (lead.phone === null ? [] : [[numberSuffix(lead.phone), lead]])))
  for (const { contact, leadId } of conversations) {
    const { name, phone } = contact
    const end = phone === null ? null : numberSuffix(phone)
    const own = leadId === null ? undefined : byId.get(leadId)
    // A merged lead is also found by phones that it does not list.
    if (own !== undefined && (own.deletedAt || nameOf(own) !== name || numberSuffix(own.phone ?? '') !== end))
      return true
    const other = end === null ? undefined : byNumber.get(end)
    if (other !== undefined && !other.deletedAt && other.id !== leadId) return true
  }
  return false
}

// A row takes seconds from its reading on the server to its event, at most.
const recentMs = 30_000
const maxRecent = 500

/** Keeps the newest version of leads that changed a short time ago. */
export function createRecentLeads() {
  const recent = new Map<string, { lead: ChangedLead; at: number }>()
  return {
    add: (leads: readonly ChangedLead[]): void => {
      const at = performance.now()
      for (const lead of leads) {
        recent.delete(lead.id)
        recent.set(lead.id, { lead, at })
      }
      for (const [id, one] of recent) {
        if (recent.size <= maxRecent && at - one.at < recentMs) break
        recent.delete(id)
      }
    },
    list: (): ChangedLead[] => {
      const since = performance.now() - recentMs
      return [...recent.values()].flatMap(({ lead, at }) => (at > since ? lead : []))
    },
  }
}

const nameOf = ({ firstName, lastName }: Pick<FoundLead, 'firstName' | 'lastName'>): string =>
  lastName === null ? firstName : `${firstName} ${lastName}`

/** Combines search results: leads first, then customers without a lead; each number once. */
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

/** Returns the digits of a complete phone number; null for any other text. */
export function digitsOf(typed: string): string | null {
  if (!/^[+(\d][\d\s()./+-]*$/.test(typed)) return null
  const digits = typed.replaceAll(/\D/g, '')
  return digits.length >= minDigits && digits.length <= maxDigits ? digits : null
}

const [minDigits, maxDigits] = [8, 20]

/**
 * Returns whether two spellings, one found by a search for the other, are the same number. Compares the last eight
 * digits: some countries have changed the digits before them, and people leave out the country code.
 */
export const isSameNumber = (one: string, other: string): boolean => numberSuffix(one) === numberSuffix(other)

const numberSuffix = (phone: string): string => phone.replaceAll(/\D/g, '').slice(-minDigits)
