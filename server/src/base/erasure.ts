import type { Tx } from './db.ts'
import type { Keyring } from './encryption/keyring.ts'

// Shared by all modules, so that one engine erases a customer in each of them (decision 022).

/** The customer, as far as known when the erasure starts. */
export interface ErasedCustomer {
  /** Digits with country code; each module looks for all variants. */
  phones: string[]
  emails: string[]
  /** E-mails of the customer's leads. Only used to find mentions, not further leads. */
  knownEmails: string[]
  /** The platforms' ids of the customer. */
  userIds: string[]
  leadIds: string[]
  conversationIds: string[]
  /** Former ids of conversations that were merged into these; events may contain them. */
  mergedIds: string[]
}

export interface ErasureScope {
  workspaceId: string
  keyring: Keyring
  customer: ErasedCustomer
  /** Only data from before this time is erased. */
  createdBefore: Date
  now: Date
}

/** Number of removed rows by kind. */
export type RemovedCounts = Partial<Record<ErasedKind, number>>

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
  'templateDrafts',
  'knowledgeDrafts',
  'consents',
] as const
export type ErasedKind = (typeof erasedKinds)[number]

/** Erases one kind of data in bounded steps. The process may crash after any of them. */
export type ErasurePart = (tx: Tx, scope: ErasureScope, place: string | null) => Promise<ErasureStep>

/** Result of one bounded step. */
export interface ErasureStep {
  removed: RemovedCounts
  /** Position where the next step continues; null when nothing is left. */
  position: string | null
  /** Further leads found to be the customer's. The erasure starts again with them from the first part. */
  foundLeadIds?: readonly string[]
}

export const finishedStep: ErasureStep = { removed: {}, position: null }

/** Result of a step that finds the remaining rows without a position. */
export const createStep = (removed: RemovedCounts, hasMore: boolean): ErasureStep => ({
  removed,
  position: hasMore ? 'more' : null,
})

export function addRemoved(a: RemovedCounts, b: RemovedCounts): RemovedCounts {
  const sum: RemovedCounts = { ...a }
  for (const kind of erasedKinds) if (b[kind]) sum[kind] = (sum[kind] ?? 0) + b[kind]
  return sum
}

/** Final digits that all variants of a number share. */
const suffixLength = 8

/** Maximum length of a formatted phone or an e-mail in a text. */
export const maxMentionLength = 512

/**
 * Returns a test for texts that mention the customer: by phone in any format, or by e-mail. Compares the last eight
 * digits, so it rather matches too much than too little. Also finds e-mails in UTF-8 text that was decoded as Latin-1.
 */
export function createMentionTest({ phones, emails, knownEmails }: ErasedCustomer): (text: string) => boolean {
  const suffixes = [...new Set(phones.map((phone) => phone.slice(-suffixLength)))]
  const asText = [...emails, ...knownEmails].map((email) => email.toLowerCase())
  const asBytes = asText.map((email) => Buffer.from(email).toString('latin1').toLowerCase())
  const emailForms = [...new Set([...asText, ...asBytes])]
  return (text) => {
    const lower = text.toLowerCase()
    if (emailForms.some((emailForm) => lower.includes(emailForm))) return true
    if (suffixes.length === 0) return false
    const digits = text.replace(/[ ()./\-\u00a0\u00c2]/g, '')
    return suffixes.some((suffix) => digits.includes(suffix))
  }
}
