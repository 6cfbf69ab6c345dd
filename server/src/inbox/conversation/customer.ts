import { isDeepStrictEqual } from 'node:util'
import { newId } from '../../base/id.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import { limitToNow } from '../../base/time.ts'
import type { Customer } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import type { Consent, ConsentPurpose, Decisions } from '../../consents/consent.ts'
import { withUpdatedAt } from './change.ts'
import type { Contact, Conversation } from './conversation.ts'
import { newestInbound, noMarks } from './conversation-state.ts'
import { human } from './owner.ts'

/** Reliability of contact data: customers write under their own name and number. */
export type ContactSource = 'customer' | 'third_party'

/** Time of a customer event and of the newest one before it. */
export interface ContactReport {
  at: Date
  newestAt: Date | null
  /** Whether the event also opens the window, which then records its time. */
  opensWindow: boolean
}

/** Time of a name without a known time: any name that the customer writes under is newer. */
const unknownNameAt = new Date(0).toISOString()

/**
 * Returns the contact updated with `customer`. The customer's newest event wins, not the one that arrived last. Without
 * `report` the event counts as the newest.
 */
export function updateContact(
  contact: Contact,
  customer: Customer,
  source: ContactSource,
  report?: ContactReport,
): Contact {
  const isLate = report !== undefined && report.newestAt !== null && report.at < report.newestAt
  const isNewest = source === 'customer' && !isLate
  return {
    ...consentsIn(contact),
    ...updateName(contact, customer.name || null, source, report),
    phone: isNewest ? (customer.phone ?? contact.phone) : (contact.phone ?? customer.phone),
    userId: isLate ? (contact.userId ?? customer.userId) : (customer.userId ?? contact.userId),
    parentUserId: isLate
      ? (contact.parentUserId ?? customer.parentUserId)
      : (customer.parentUserId ?? contact.parentUserId),
    address: isNewest
      ? { phone: customer.phone ?? contact.address.phone, userId: customer.userId ?? contact.address.userId }
      : {
          phone: contact.address.phone ?? customer.phone,
          userId: contact.address.userId ?? customer.userId,
        },
  }
}

function updateName(
  { name, nameAt }: Contact,
  reportedName: string | null,
  source: ContactSource,
  report: ContactReport | undefined,
): Pick<Contact, 'name' | 'nameAt'> {
  const known = { name, ...(nameAt !== undefined && { nameAt }) }
  if (source === 'third_party')
    return name === null && reportedName !== null ? { name: reportedName, nameAt: unknownNameAt } : known
  if (report === undefined) return reportedName === null ? known : { name: reportedName }
  const { at, newestAt, opensWindow } = report
  const isLate = newestAt !== null && at < newestAt
  if (reportedName !== null) {
    const since = nameAt === undefined ? newestAt : new Date(nameAt)
    if (name !== null && since !== null && at < since) return known
    return { name: reportedName, ...((isLate || !opensWindow) && { nameAt: at.toISOString() }) }
  }
  // The name is older than this event, which is the newest and has no name.
  const isOutdated = name !== null && nameAt === undefined && newestAt !== null && !isLate && opensWindow
  return isOutdated ? { name, nameAt: newestAt.toISOString() } : known
}

/** Updates the contact; `ownEvent` is the customer's own event, if it was one. */
export function withCustomer(
  before: Conversation,
  customer: Customer,
  source: ContactSource,
  now: Date,
  ownEvent?: { at: Date; opensWindow: boolean },
): Conversation {
  const newestAt = newestInbound(before.windowExpiresAt)
  const report = ownEvent && {
    // Capped at our time, as a clock ahead of ours affects the window as well.
    ...{ at: limitToNow(ownEvent.at, now), opensWindow: ownEvent.opensWindow && ownEvent.at <= now },
    newestAt: newestAt && limitToNow(newestAt, now),
  }
  const contact = updateContact(before.contact, customer, source, report)
  return isSameContact(contact, before.contact) ? before : withUpdatedAt({ ...before, contact }, now)
}

// Field by field, because it runs for every message. `updateContact` does not change decisions.
const isSameContact = (a: Contact, b: Contact): boolean =>
  a.name === b.name &&
  a.nameAt === b.nameAt &&
  a.phone === b.phone &&
  a.userId === b.userId &&
  a.parentUserId === b.parentUserId &&
  a.address.phone === b.address.phone &&
  a.address.userId === b.address.userId

type ConsentCopies = Pick<Contact, ConsentPurpose>

/** The copies of decisions that a contact has. */
const consentsIn = ({ marketing, utility }: ConsentCopies): ConsentCopies => ({
  ...(marketing !== undefined && { marketing }),
  ...(utility !== undefined && { utility }),
})

/** Copies the customer's current decision about a purpose into the conversation; null: there is none. */
export function withConsent(
  before: Conversation,
  purpose: ConsentPurpose,
  consent: Consent | null,
  now: Date,
): Conversation {
  const copy = consent === null ? undefined : copyOfConsent(consent)
  if (isDeepStrictEqual(before.contact[purpose], copy)) return before
  const { marketing, utility, ...contact } = before.contact
  const copies = consentsIn({ marketing, utility, [purpose]: copy } as ConsentCopies)
  return withUpdatedAt({ ...before, contact: { ...contact, ...copies } }, now)
}

/** Returns a new conversation with the decisions of a customer who is already known. */
export function withKnownConsent(created: Conversation, { marketing, utility }: Decisions): Conversation {
  if (marketing === null && utility === null) return created
  const copies = {
    ...(marketing !== null && { marketing: copyOfConsent(marketing) }),
    ...(utility !== null && { utility: copyOfConsent(utility) }),
  }
  return { ...created, contact: { ...created.contact, ...copies } }
}

const copyOfConsent = ({ decision, source, decidedAt }: Consent): Contact['marketing'] & object => ({
  ...{ isStopped: decision === 'opted_out', at: decidedAt.toISOString(), source },
})

/** Combines the copies of two contacts of one customer: the newer decision about each purpose. */
export function mergeConsents(a: Contact, b: Contact): ConsentCopies {
  const newer = (purpose: ConsentPurpose) => {
    const [one, other] = [a[purpose], b[purpose]]
    return one === undefined || (other !== undefined && other.at > one.at) ? other : one
  }
  return consentsIn({ marketing: newer('marketing'), utility: newer('utility') } as ConsentCopies)
}

/** Returns the customer's current decision as the conversation shows it; null if there is none. */
export function shownConsent(contact: Contact, purpose: ConsentPurpose = 'marketing') {
  const copy = contact[purpose]
  if (copy === undefined) return null
  const { isStopped, source = 'platform', at } = copy
  return { decision: isStopped ? ('opted_out' as const) : ('opted_in' as const), source, at }
}

export const hasOptedOut = ({ marketing }: Contact): boolean => marketing?.isStopped === true

const unknownContact: Contact = {
  name: null,
  phone: null,
  userId: null,
  parentUserId: null,
  address: { phone: null, userId: null },
}

/** Returns a new conversation, owned by people for now. */
export function newConversation(
  connection: { id: string; channel: Channel },
  customer: Customer,
  source: ContactSource,
  lastMessageAt: Date,
  now: Date,
): Conversation {
  return {
    id: newId(now),
    connectionId: connection.id,
    channel: connection.channel,
    contact: updateContact(unknownContact, customer, source),
    owner: human,
    ownerEpoch: 0,
    ownerSince: now,
    held: false,
    handover: null,
    thread: null,
    status: 'open',
    snoozedUntil: null,
    assignedTo: null,
    teamId: null,
    labelIds: [],
    priority: null,
    goal: null,
    unreadCount: 0,
    windowExpiresAt: null,
    lastMessageAt,
    unansweredSince: null,
    inbound: noMarks,
    lastMessage: null,
    createdAt: now,
    updatedAt: now,
  }
}

/** Conversations that match a customer's user id or phone; at most two. */
export interface CustomerMatch {
  /** Conversation of the customer; null if there is none. */
  own: Conversation | null
  /** Second conversation of the same customer, known by phone only: to be merged. */
  duplicate: Conversation | null
  /** Conversation of another customer whose phone now belongs to this one: the platform reassigned the number. */
  formerHolder: Conversation | null
}

/** Matches by user id, which identifies one person. So does a phone, until it appears with another user id. */
export function matchCustomer(candidates: readonly Conversation[], customer: Customer): CustomerMatch {
  const byUser = candidates.find(({ contact }) => contact.userId !== null && contact.userId === customer.userId) ?? null
  const byPhone = candidates.find(({ contact }) => isSamePhone(contact.phone, customer.phone)) ?? null
  if (byPhone === null || byPhone.id === byUser?.id) return { own: byUser, duplicate: null, formerHolder: null }
  const isSamePerson = byPhone.contact.userId === null || customer.userId === null
  if (!isSamePerson) return { own: byUser, duplicate: null, formerHolder: byPhone }
  return byUser === null
    ? { own: byPhone, duplicate: null, formerHolder: null }
    : { own: byUser, duplicate: byPhone, formerHolder: null }
}

/**
 * Returns the contact with new identifiers. A new number without a user id also invalidates the stored user id; the
 * next message brings the new one.
 */
export function renameContact(contact: Contact, customer: Customer): Contact {
  const hasNewNumber = customer.phone !== null && !isSamePhone(customer.phone, contact.phone)
  const userId = customer.userId ?? (hasNewNumber ? null : contact.userId)
  const phone = customer.phone ?? contact.phone
  const { name, nameAt } = contact
  return {
    ...consentsIn(contact),
    ...(customer.name !== null ? { name: customer.name } : { name, ...(nameAt !== undefined && { nameAt }) }),
    phone,
    userId,
    parentUserId: customer.parentUserId ?? (hasNewNumber ? null : contact.parentUserId),
    address: { phone, userId },
  }
}

export function isSamePhone(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && phoneClass(a) === phoneClass(b)
}
