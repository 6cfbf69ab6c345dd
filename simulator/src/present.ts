import type { Platform } from './platform.ts'
import { type ChatMessage, type Customer, type Tick, windowIsOpen } from './world.ts'

// What did not get through was never on the phone.
const hasArrived = ({ from, status }: ChatMessage): boolean => from === 'customer' || arrived.includes(status)
const arrived: readonly Tick[] = ['sent', 'delivered', 'read']
const isShown = ({ kind }: { kind: string }): boolean => kind !== 'quiet'

/** A customer as a line in a list. */
export function presentCustomer({ world, clock }: Platform, customer: Customer) {
  const { id, name, username, waId: phone, userId, hidesNumber, online, readsAtOnce, numberId } = customer
  const number = world.numbers.get(numberId)
  const last = customer.messages.findLast((message) => isShown(message) && hasArrived(message))
  const unread = customer.messages.filter(
    ({ from, status, kind }) =>
      from === 'business' && kind !== 'quiet' && (status === 'sent' || status === 'delivered'),
  )
  return {
    id,
    numberId,
    business: number?.name ?? '',
    network: number?.network ?? 'official',
    name,
    username,
    phone,
    userId,
    hidesNumber,
    online,
    readsAtOnce,
    unread: unread.length,
    windowIsOpen: number !== undefined && windowIsOpen(number, customer, clock.now()),
    lastAt: last?.at ?? null,
    lastText: last?.isWithdrawn === true ? 'Withdrawn' : (last?.text ?? ''),
    lastFrom: last?.from ?? null,
  }
}

/**
 * A customer with the messages of their phone. Without a network nothing new has arrived there. `isForgotten` when they may
 * have had some with a simulator before this one.
 */
export function presentChat(platform: Platform, customer: Customer) {
  const messages = customer.messages.filter(isShown)
  const isForgotten =
    messages.length === 0 && platform.world.numbers.get(customer.numberId)?.trustsUnknownWindows === true
  return { ...presentCustomer(platform, customer), isForgotten, messages }
}
