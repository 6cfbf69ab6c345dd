import { contactOf, messagesValue, seconds } from './message-statuses.ts'
import type { Chat } from './platform.ts'
import { makeWamid } from './wamid.ts'
import { type Answerer, addMessage, type ChatMessage } from './world.ts'

// Several apps can answer on one number; the platform gives each conversation to one of them and copies to the others.

/** Gives the conversation to another app, or to the service under test, as the platform does, and announces it. */
export function changeAnswerer(chat: Chat, answerer: Answerer): void {
  const { platform, number, customer } = chat
  const previous = customer.answeredBy
  if (previous === answerer) return
  customer.answeredBy = answerer
  // The platform's AI agent begins by its settings, without a notice: the next copy shows it.
  if (answerer === 'ai_agent') return
  const [type, now] = answerer === 'business' ? ['control_passed', 'customer_service'] : ['control_taken', answerer]
  const roles = {
    previous_owner_role: previous === 'business' ? 'customer_service' : previous,
    new_owner_role: now,
  }
  const value = {
    messaging_product: 'whatsapp',
    recipient: { display_phone_number: number.phone, phone_number_id: number.numberId },
    // The platform has no field for a customer who hides the number.
    ...(customer.hidesNumber ? {} : { sender: { phone_number: customer.waId } }),
    type,
    timestamp: seconds(platform.clock.now()),
    [type]: roles,
  }
  platform.webhookSender.send(number, { field: 'messaging_handovers', value, lane: customer.id })
}

/** Takes the conversation silently: the service under test has sent a free-form message. */
export function takeBySending({ customer }: Pick<Chat, 'customer'>): void {
  customer.answeredBy = 'business'
}

/** Sends a message of the other app that has the conversation; the service under test gets a copy. */
export function sendFromOtherApp(chat: Chat, text: string): ChatMessage {
  const { platform, customer } = chat
  const now = platform.clock.now()
  const id = makeWamid(customer.hidesNumber ? customer.userId : customer.waId, 'outbound')
  const message = addMessage(customer, { id, from: 'business', text, at: now, status: 'delivered' })
  platform.changed()
  const to = customer.hidesNumber ? { recipient: customer.userId } : { to: customer.waId }
  const body = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...to,
    type: 'text',
    text: { body: text },
  }
  const echoes = [{ id, timestamp: seconds(now), message: body }]
  sendCopy(chat, { contacts: [contactOf(customer)], message_echoes: echoes })
  return message
}

/** Sends a copy of what happens in a conversation of another app. */
export function sendCopy({ platform, number, customer }: Chat, standby: object, onDelivered?: () => void): void {
  const value = { ...messagesValue(number), standby }
  const change = { field: 'standby', value, lane: customer.id }
  platform.webhookSender.send(number, onDelivered === undefined ? change : { ...change, onDelivered })
}
