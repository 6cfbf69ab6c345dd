import type { Tx } from './db.ts'
import type { Keyring } from './encryption/keyring.ts'

// What the rooms share when a customer is erased, so that one engine goes through all of them (decision 022).

/** Whom an erasure is about, as far as it is known when it begins. */
export interface ErasedCustomer {
  /** Digits with country code; each room looks for all variants. */
  phones: string[]
  emails: string[]
  /** E-mails of the customer's leads, which nobody else is looked for by. */
  knownEmails: string[]
  /** The platforms' ids of the person. */
  userIds: string[]
  leadIds: string[]
  conversationIds: string[]
  /** Ids that conversations had which were merged into these: events may tell of them. */
  mergedIds: string[]
}

export interface ErasureScope {
  workspaceId: string
  keyring: Keyring
  customer: ErasedCustomer
  /** What was there before this moment is erased; what comes after it begins anew. */
  since: Date
  now: Date
}

/** How many rows went, by kind. */
export type Removed = Partial<Record<ErasedKind, number>>

export const erasedKinds = [
  'leads',
  'statusChanges',
  'submissions',
  'conversations',
  'messages',
  'files',
  'notes',
  'activities',
  'handovers',
  'sends',
  'events',
  'deliveries',
  'sessionRows',
  'importFiles',
  'savedFilters',
] as const
export type ErasedKind = (typeof erasedKinds)[number]

/** One kind of thing that is erased, in bounded steps, each of which may be the last before a crash. */
export type ErasurePart = (tx: Tx, scope: ErasureScope, place: string | null) => Promise<ErasureStep>

/** What one bounded step of erasing came to. */
export interface ErasureStep {
  removed: Removed
  /** Where the next step goes on; null when there is nothing left to do. */
  place: string | null
  /** Leads that turned out to be the customer's: all is looked for again with them, from the first part on. */
  alsoTheirs?: readonly string[]
}

export const nothingLeft: ErasureStep = { removed: {}, place: null }

/** For steps that find what is left by themselves. */
export const goOn = (removed: Removed, hasMore: boolean): ErasureStep => ({ removed, place: hasMore ? 'more' : null })

export function addRemoved(a: Removed, b: Removed): Removed {
  const sum: Removed = { ...a }
  for (const kind of erasedKinds) if (b[kind]) sum[kind] = (sum[kind] ?? 0) + b[kind]
  return sum
}

/** Digits of a number that stay the same in all its variants. */
const tailLength = 8

/** The longest that a phone or an e-mail can be in a text, with formatting. */
export const longestMention = 512

/**
 * Tells whether a text names the customer by phone, however it is formatted, or by e-mail. Looks at the last eight digits:
 * rather one text too many than one too few. E-mails are taken letter by letter, so the text may as well be Latin-1 of UTF-8.
 */
export function mentionFinder({ phones, emails, knownEmails }: ErasedCustomer): (text: string) => boolean {
  const tails = [...new Set(phones.map((phone) => phone.slice(-tailLength)))]
  const asText = [...emails, ...knownEmails].map((email) => email.toLowerCase())
  const asBytes = asText.map((email) => Buffer.from(email).toString('latin1').toLowerCase())
  const spellings = [...new Set([...asText, ...asBytes])]
  return (text) => {
    const lower = text.toLowerCase()
    if (spellings.some((spelling) => lower.includes(spelling))) return true
    if (tails.length === 0) return false
    const digits = text.replace(/[ ()./\-\u00a0\u00c2]/g, '')
    return tails.some((tail) => digits.includes(tail))
  }
}
