import { foldKeyword, maxKeywordLength } from '../base/text/keywords.ts'
import type { Actor } from '../workspaces/actor.ts'

/**
 * Where a decision was made: the customer's setting on the platform (`platform`), a send that the platform refused for
 * it (`platform_error`), a message that is a keyword, a form, a person of the team, or a program with an API key.
 */
export const consentSources = ['platform', 'platform_error', 'keyword', 'form', 'member', 'agent'] as const
export type ConsentSource = (typeof consentSources)[number]

export const consentDecisions = ['opted_in', 'opted_out'] as const
export type ConsentDecision = (typeof consentDecisions)[number]

/**
 * What a decision is about. The platform, keywords and forms know marketing only; people record that a customer does not
 * want other templates either (`utility`: about orders, appointments and the like), or wants them again.
 */
export const consentPurposes = ['marketing', 'utility'] as const
export type ConsentPurpose = (typeof consentPurposes)[number]

/** Identifiers of the customer, as far as known. At least one is needed to record a decision. */
export interface ConsentCustomer {
  /** Digits with country code. */
  phone: string | null
  /** The platform's user id. */
  userId: string | null
}

/** A decision to record. */
export interface NewConsent {
  customer: ConsentCustomer
  /** Default: `marketing`. */
  purpose?: ConsentPurpose
  decision: ConsentDecision
  source: ConsentSource
  actor: Actor
  /** Connection on which the customer decided; null if it was elsewhere. */
  connectionId: string | null
  /** The platform's time; null for a decision that was made here. */
  reportedAt: Date | null
}

/** A recorded decision. */
export interface Consent extends Pick<NewConsent, 'decision' | 'source' | 'actor' | 'connectionId'> {
  id: string
  purpose: ConsentPurpose
  /** By our clock. */
  decidedAt: Date
}

/** The current decision of a customer about each purpose; null: none. */
export type Decisions = Readonly<Record<ConsentPurpose, Consent | null>>

export const noDecisions: Decisions = { marketing: null, utility: null }

/** An earlier decision, as far as it matters for the order. */
export interface KnownConsent extends Pick<NewConsent, 'decision' | 'source' | 'reportedAt'> {
  decidedAt: Date
  isLate: boolean
}

/** Difference of the platform's clock to ours that does not cost a customer their opt-out. */
const clockToleranceMs = 5 * 60_000

/** Whether a decision counts, is recorded without counting, or was recorded before. */
export type ConsentOrder = 'counts' | 'late' | 'repeated'

/**
 * Decides whether a decision becomes the current one. Decisions count in the order in which they arrive here. A time of
 * the platform can only show that a decision is older: than another one by the same clock, or than one that was made
 * here. It never makes a decision newer. In case of doubt an opt-out counts, and a form cannot end one. `known`: newest
 * first.
 */
export function orderConsent(
  { decision, source, reportedAt }: Pick<NewConsent, 'decision' | 'source' | 'reportedAt'>,
  known: readonly KnownConsent[],
): ConsentOrder {
  const counted = known.filter(({ isLate }) => !isLate)
  const [current] = counted
  // Anyone can fill in a form under another person's number.
  if (source === 'form' && decision === 'opted_in' && current?.decision === 'opted_out') return 'late'
  if (reportedAt === null) return current?.decision === decision && current.source === source ? 'repeated' : 'counts'
  const isKnown = known.some(
    (one) => one.decision === decision && one.source === source && one.reportedAt?.getTime() === reportedAt.getTime(),
  )
  if (isKnown) return 'repeated'
  const isOut = decision === 'opted_out'
  const isOlder = counted.some((one) => {
    if (one.reportedAt === null) return reportedAt.getTime() + (isOut ? clockToleranceMs : 0) < one.decidedAt.getTime()
    const aheadMs = one.reportedAt.getTime() - reportedAt.getTime()
    return aheadMs > 0 || (aheadMs === 0 && !isOut && one.decision === 'opted_out')
  })
  return isOlder ? 'late' : 'counts'
}

/** Words of a workspace that decide if a message consists of one of them. */
export interface ConsentKeywords {
  optOut: ReadonlySet<string>
  optIn: ReadonlySet<string>
}

export function parseKeywords(optOut: readonly string[], optIn: readonly string[]): ConsentKeywords {
  return { optOut: new Set(optOut.map(foldKeyword)), optIn: new Set(optIn.map(foldKeyword)) }
}

/** Whether a text is short enough to be a keyword; much cheaper than to look for one. */
export const mayBeKeyword = (text: string): boolean => text.length > 0 && text.length <= 2 * maxKeywordLength

/** Returns what a message decides if it is a keyword, null otherwise. */
export function keywordDecision(text: string, { optOut, optIn }: ConsentKeywords): ConsentDecision | null {
  if (!mayBeKeyword(text)) return null
  const word = foldKeyword(text)
  // A message of emoji only has no word.
  if (word === '') return null
  if (optOut.has(word)) return 'opted_out'
  return optIn.has(word) ? 'opted_in' : null
}
