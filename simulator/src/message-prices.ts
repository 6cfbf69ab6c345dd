import { randomUUID } from 'node:crypto'
import type { BusinessNumber, ChatMessage, Customer, MessagePrice, MessageStatus } from './world.ts'

const hourMs = 3_600_000
/** A reply within a day of a message from an ad opens a window in which everything is free. */
const [adMs, freeEntryMs] = [24 * hourMs, 72 * hourMs]

/** Records that the customer wrote from an ad, and thus may open a free entry point. */
export function startFreeEntry(customer: Customer, at: Date): void {
  customer.adAt = at
}

/**
 * Returns the platform's price of a message that is being sent: free in a free entry point, and for the first service
 * messages of the number's month (UTC).
 */
export function priceOf(number: BusinessNumber, customer: Customer, message: ChatMessage, now: Date): MessagePrice {
  openFreeEntry(customer, now)
  const { freeEntry } = customer
  if (freeEntry !== null && now < freeEntry.until)
    return { type: 'free_entry_point', category: 'referral_conversion', freeEntry }
  const isFree = message.category === 'service' && takeFreeMessage(number, now)
  return { type: isFree ? 'free_customer_service' : 'regular', category: message.category, freeEntry: null }
}

function openFreeEntry(customer: Customer, now: Date): void {
  const { adAt } = customer
  if (adAt === null) return
  customer.adAt = null
  if (now.getTime() >= adAt.getTime() + adMs) return
  customer.freeEntry = { id: randomUUID().replaceAll('-', ''), until: new Date(now.getTime() + freeEntryMs) }
}

function takeFreeMessage(number: BusinessNumber, now: Date): boolean {
  const month = now.toISOString().slice(0, 7)
  if (number.serviceMessages.month !== month) number.serviceMessages = { month, count: 0 }
  number.serviceMessages.count++
  return number.serviceMessages.count <= number.freeServiceMessages
}

/**
 * Returns the fields of a status that report the price: on `sent`, and on the first status of a delivered message. The
 * conversation is there only in a free entry point, and its end only on `sent`.
 */
export function priceFields({ price, isPriceDelivered }: ChatMessage, status: MessageStatus): object {
  if (price === null || (status !== 'sent' && isPriceDelivered)) return {}
  const { type, category, freeEntry } = price
  const expiration =
    freeEntry !== null && status === 'sent'
      ? { expiration_timestamp: String(Math.floor(freeEntry.until.getTime() / 1000)) }
      : {}
  return {
    ...(freeEntry !== null && {
      conversation: { id: freeEntry.id, ...expiration, origin: { type: 'referral_conversion' } },
    }),
    pricing: { billable: type === 'regular', pricing_model: 'PMP', type, category },
  }
}
