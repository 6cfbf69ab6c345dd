import { isDeepStrictEqual } from 'node:util'
import { newId } from '../../base/id.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import { notAfter } from '../../base/time.ts'
import type { Customer } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import { touched } from './change.ts'
import type { Contact, Conversation } from './conversation.ts'
import { newestInbound, noMarks } from './conversation-state.ts'
import { human } from './owner.ts'

/** How well a source knows the customer: whoever writes does so under their own name and number. */
export type Source = 'customer' | 'hearsay'

/** When a customer told of themselves, and when they last did before. */
export interface Telling {
  at: Date
  newestAt: Date | null
  /** The window tells of it from then on, if it is not late. */
  opensWindow: boolean
}

/** A name of which nobody knows since when: any that the customer writes under is newer. */
const hearsayAt = new Date(0).toISOString()

/**
 * The contact as it is known once `customer` was told of. What the customer told last wins, and not what came last; without a
 * `telling` it is the newest.
 */
export function learn(contact: Contact, customer: Customer, source: Source, telling?: Telling): Contact {
  const isLate = telling !== undefined && telling.newestAt !== null && telling.at < telling.newestAt
  const isNewest = source === 'customer' && !isLate
  const { marketing } = contact
  return {
    ...(marketing !== undefined && { marketing }),
    ...learnName(contact, customer.name || null, source, telling),
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

function learnName(
  { name, nameAt }: Contact,
  heard: string | null,
  source: Source,
  telling: Telling | undefined,
): Pick<Contact, 'name' | 'nameAt'> {
  const known = { name, ...(nameAt !== undefined && { nameAt }) }
  if (source === 'hearsay') return name === null && heard !== null ? { name: heard, nameAt: hearsayAt } : known
  if (telling === undefined) return heard === null ? known : { name: heard }
  const { at, newestAt, opensWindow } = telling
  const isLate = newestAt !== null && at < newestAt
  if (heard !== null) {
    const since = nameAt === undefined ? newestAt : new Date(nameAt)
    if (name !== null && since !== null && at < since) return known
    return { name: heard, ...((isLate || !opensWindow) && { nameAt: at.toISOString() }) }
  }
  // The name is from before this one, which is the newest and has none.
  const isOutdated = name !== null && nameAt === undefined && newestAt !== null && !isLate && opensWindow
  return isOutdated ? { name, nameAt: newestAt.toISOString() } : known
}

/** `told`: the customer's own event, where it was one. */
export function withCustomer(
  before: Conversation,
  customer: Customer,
  source: Source,
  now: Date,
  told?: { at: Date; opensWindow: boolean },
): Conversation {
  const newestAt = newestInbound(before.windowExpiresAt)
  const telling = told && {
    // A clock that is ahead of ours is ahead in the window too.
    ...{ at: notAfter(told.at, now), opensWindow: told.opensWindow && told.at <= now },
    newestAt: newestAt && notAfter(newestAt, now),
  }
  const contact = learn(before.contact, customer, source, telling)
  return isDeepStrictEqual(contact, before.contact) ? before : touched({ ...before, contact }, now)
}

/** The customer's word on marketing messages, unless a newer one is known. */
export function withMarketing(before: Conversation, isStopped: boolean, toldAt: Date, now: Date): Conversation {
  const at = notAfter(toldAt, now)
  const { contact } = before
  if (contact.marketing !== undefined && at < new Date(contact.marketing.at)) return before
  return touched({ ...before, contact: { ...contact, marketing: { isStopped, at: at.toISOString() } } }, now)
}

export const hasOptedOut = ({ marketing }: Contact): boolean => marketing?.isStopped === true

const stranger: Contact = {
  name: null,
  phone: null,
  userId: null,
  parentUserId: null,
  address: { phone: null, userId: null },
}

/** The conversation of a customer who has none, owned by people for the moment. */
export function newConversation(
  connection: { id: string; channel: Channel },
  customer: Customer,
  source: Source,
  lastMessageAt: Date,
  now: Date,
): Conversation {
  return {
    id: newId(now),
    connectionId: connection.id,
    channel: connection.channel,
    contact: learn(stranger, customer, source),
    owner: human,
    ownerEpoch: 0,
    ownerSince: now,
    held: false,
    handover: null,
    status: 'open',
    snoozedUntil: null,
    assignedTo: null,
    labelIds: [],
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

/** What is to become of the conversations that go by a customer's user id or phone; there are two at most. */
export interface Match {
  /** The customer's own; null when there is none yet. */
  own: Conversation | null
  /** Another one of the same customer, which was known by the phone alone: to be merged. */
  twin: Conversation | null
  /** Somebody else's, whose phone is now this customer's: the platform gave the number to a new user. */
  formerHolder: Conversation | null
}

/** A user id names one person. A phone does too, until it shows up under another user id. */
export function matchCustomer(candidates: readonly Conversation[], customer: Customer): Match {
  const byUser = candidates.find(({ contact }) => contact.userId !== null && contact.userId === customer.userId) ?? null
  const byPhone = candidates.find(({ contact }) => samePhone(contact.phone, customer.phone)) ?? null
  if (byPhone === null || byPhone.id === byUser?.id) return { own: byUser, twin: null, formerHolder: null }
  const isSamePerson = byPhone.contact.userId === null || customer.userId === null
  if (!isSamePerson) return { own: byUser, twin: null, formerHolder: byPhone }
  return byUser === null
    ? { own: byPhone, twin: null, formerHolder: null }
    : { own: byUser, twin: byPhone, formerHolder: null }
}

/**
 * The contact under other names. A new number without a user id means that the id is a new one as well, which the
 * next message will tell.
 */
export function renamed(contact: Contact, customer: Customer): Contact {
  const hasNewNumber = customer.phone !== null && !samePhone(customer.phone, contact.phone)
  const userId = customer.userId ?? (hasNewNumber ? null : contact.userId)
  const phone = customer.phone ?? contact.phone
  const { name, nameAt, marketing } = contact
  return {
    ...(marketing !== undefined && { marketing }),
    ...(customer.name !== null ? { name: customer.name } : { name, ...(nameAt !== undefined && { nameAt }) }),
    phone,
    userId,
    parentUserId: customer.parentUserId ?? (hasNewNumber ? null : contact.parentUserId),
    address: { phone, userId },
  }
}

export function samePhone(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && phoneClass(a) === phoneClass(b)
}
