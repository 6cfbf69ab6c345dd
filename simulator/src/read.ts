import type { Platform } from './platform.ts'
import type { ChatMessage, Customer } from './world.ts'

/** The business has read up to this message of the customer. */
export function markRead(platform: Platform, customer: Customer, newest: ChatMessage): void {
  for (const message of customer.messages.slice(0, customer.messages.indexOf(newest) + 1)) {
    if (message.from === 'customer' && message.status !== 'pending') message.status = 'read'
  }
  platform.changed()
}
