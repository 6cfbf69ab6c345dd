import { statusError } from './graph/graph-error.ts'
import { sendStatus } from './linked/notify.ts'
import { priceFields, priceOf } from './message-prices.ts'
import type { Chat, Platform } from './platform.ts'
import type { BusinessNumber, ChatMessage, Customer, MessageStatus } from './world.ts'

/** Returns the fields with which every `messages` change begins. */
export const messagesValue = (number: BusinessNumber) => ({
  messaging_product: 'whatsapp',
  metadata: { display_phone_number: number.phone, phone_number_id: number.numberId },
})

export function contactOf(customer: Customer): object {
  return {
    profile: { name: customer.name, ...(customer.username === null ? {} : { username: customer.username }) },
    ...(customer.hidesNumber ? {} : { wa_id: customer.waId }),
    user_id: customer.userId,
  }
}

export const senderOf = (customer: Customer): object => ({
  ...(customer.hidesNumber ? {} : { from: customer.waId }),
  from_user_id: customer.userId,
})

/** Returns the customer's identifier that is encoded in message ids. */
export const addressOf = (customer: Customer): string => (customer.hidesNumber ? customer.userId : customer.waId)

export const seconds = (at: Date): string => String(Math.floor(at.getTime() / 1000))

/** Returns the value of a `messages` change with one status. */
export function statusValue(
  number: BusinessNumber,
  customer: Customer,
  message: ChatMessage,
  status: Exclude<MessageStatus, 'pending'>,
  at: Date,
): object {
  const recipient = customer.hidesNumber
    ? { recipient_user_id: customer.userId }
    : { recipient_id: customer.waId, recipient_user_id: customer.userId }
  return {
    ...messagesValue(number),
    ...(status === 'failed' ? {} : { contacts: [contactOf(customer)] }),
    statuses: [
      {
        id: message.id,
        status,
        timestamp: seconds(at),
        ...recipient,
        ...(message.correlator === null ? {} : { biz_opaque_callback_data: message.correlator }),
        ...(status === 'failed'
          ? { errors: [statusError(message.errorCode ?? 131000)] }
          : priceFields(message, status)),
      },
    ],
  }
}

const statusOrder: readonly MessageStatus[] = ['pending', 'sent', 'delivered', 'read']

/** Starts a message's progress through the statuses; `failure` is the error code with which it ends. */
export function startStatuses(chat: Chat, message: ChatMessage, failure: number | null): void {
  const { platform } = chat
  const { scheduler, ladder } = platform
  scheduler.after(ladder.sentMs, () => {
    if (failure !== null) {
      message.errorCode = failure
      advanceStatus(chat, message, 'failed')
      return
    }
    if (isUnpaid(chat, message)) {
      message.errorCode = paymentCode
      advanceStatus(chat, message, 'failed')
      return
    }
    advanceStatus(chat, message, 'sent')
    deliver(chat, message)
  })
}

const paymentCode = 131042

/** Returns whether the message would be charged while the account has no valid payment method. */
function isUnpaid({ platform, number, customer }: Chat, message: ChatMessage): boolean {
  if (!number.paymentFails || number.network === 'linked' || message.from !== 'business') return false
  message.price ??= priceOf(number, customer, message, platform.clock.now())
  return message.price.type === 'regular'
}

/** Delivers a message to the phone if it is online. */
function deliver(chat: Chat, message: ChatMessage): void {
  const { platform, customer } = chat
  const { scheduler, ladder } = platform
  // The platform sends no status after `sent` for reactions.
  if (message.kind === 'quiet') return
  scheduler.after(ladder.deliveredMs, () => {
    if (!customer.online || message.status !== 'sent') return
    advanceStatus(chat, message, 'delivered')
    if (customer.readsAtOnce) scheduler.after(ladder.readMs, () => advanceStatus(chat, message, 'read'))
  })
}

/** Delivers the messages that waited for the phone to come online. */
export function deliverPending(chat: Chat): void {
  const { customer } = chat
  for (const message of customer.messages) {
    if (message.from !== 'customer' && message.status === 'sent') deliver(chat, message)
  }
}

/** Marks the chat as read by the customer. Messages not delivered yet cannot be read. */
export function markChatRead(chat: Chat): void {
  const { customer } = chat
  if (!customer.online) return
  for (const message of customer.messages) {
    if (message.from !== 'customer' && message.kind !== 'quiet') advanceStatus(chat, message, 'read')
  }
}

function advanceStatus(chat: Chat, message: ChatMessage, status: Exclude<MessageStatus, 'pending'>): void {
  const { platform, number, customer } = chat
  const { webhookSender, clock } = platform
  if (status === 'read' && message.status === 'pending') return
  if (
    message.status === 'failed' ||
    statusOrder.indexOf(message.status) >= (status === 'failed' ? 2 : statusOrder.indexOf(status))
  )
    return
  message.status = status
  platform.changed()
  if (status === 'delivered' && webhookSender.settings.skipDelivered) return
  if (number.network === 'linked') {
    sendStatus(chat, message)
    return
  }
  if (message.from !== 'business') return
  const now = clock.now()
  if (status === 'sent') message.price ??= priceOf(number, customer, message, now)
  webhookSender.send(number, {
    field: 'messages',
    value: statusValue(number, customer, message, status, now),
    lane: customer.id,
  })
  if (status === 'delivered' || status === 'read') message.isPriceDelivered = true
}

/** How long the platform shows that the business is typing. */
export const typingMs = 25_000

/** Shows the customer that the business is typing, until it sends a message or 25 s have passed. */
export function showTyping(platform: Platform, customer: Customer): void {
  customer.typing?.cancel()
  const cancel = platform.scheduler.after(typingMs, () => stopTyping(platform, customer))
  customer.typing = { until: new Date(platform.clock.now().getTime() + typingMs), cancel }
  platform.changed()
}

export function stopTyping(platform: Platform, customer: Customer): void {
  if (customer.typing === null) return
  customer.typing.cancel()
  customer.typing = null
  platform.changed()
}

/** Marks messages of the customer up to this one as read by the business. */
export function markRead(platform: Platform, customer: Customer, newest: ChatMessage): void {
  for (const message of customer.messages.slice(0, customer.messages.indexOf(newest) + 1)) {
    if (message.from === 'customer' && message.status !== 'pending') message.status = 'read'
  }
  platform.changed()
}
