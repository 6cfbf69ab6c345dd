import { newId } from '../../base/id.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import type { Customer } from '../../channels/channel-event.ts'
import type { Channel } from '../../channels/connection/connection.ts'
import { touched } from './change.ts'
import type { Contact, Conversation } from './conversation.ts'
import { noMarks } from './conversation-state.ts'
import { human } from './owner.ts'

/** How well a source knows the customer: whoever writes does so under their own name and number. */
export type Source = 'customer' | 'hearsay'

/** The contact as it is known once `customer` was told of. */
export function learn(contact: Contact, customer: Customer, source: Source): Contact {
  const isFirsthand = source === 'customer'
  const heardName = customer.name === '' ? null : customer.name
  return {
    name: isFirsthand ? (heardName ?? contact.name) : (contact.name ?? heardName),
    phone: isFirsthand ? (customer.phone ?? contact.phone) : (contact.phone ?? customer.phone),
    userId: customer.userId ?? contact.userId,
    parentUserId: customer.parentUserId ?? contact.parentUserId,
    address: isFirsthand
      ? { phone: customer.phone ?? contact.address.phone, userId: customer.userId ?? contact.address.userId }
      : {
          phone: contact.address.phone ?? customer.phone,
          userId: contact.address.userId ?? customer.userId,
        },
  }
}

export function withCustomer(before: Conversation, customer: Customer, source: Source, now: Date): Conversation {
  const contact = learn(before.contact, customer, source)
  return JSON.stringify(contact) === JSON.stringify(before.contact) ? before : touched({ ...before, contact }, now)
}

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
  return {
    name: customer.name ?? contact.name,
    phone,
    userId,
    parentUserId: customer.parentUserId ?? (hasNewNumber ? null : contact.parentUserId),
    address: { phone, userId },
  }
}

export function samePhone(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && phoneClass(a) === phoneClass(b)
}
