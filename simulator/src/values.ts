import { statusError } from './graph/graph-error.ts'
import type { BusinessNumber, ChatMessage, Customer, Tick } from './world.ts'

/** What every `messages` change begins with. */
export const valueHead = (number: BusinessNumber) => ({
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

/** What ids of messages with a customer are made of. */
export const addressOf = (customer: Customer): string => (customer.hidesNumber ? customer.userId : customer.waId)

export const seconds = (at: Date): string => String(Math.floor(at.getTime() / 1000))

/** The value of a `messages` change about one status. */
export function statusValue(
  number: BusinessNumber,
  customer: Customer,
  message: ChatMessage,
  status: Exclude<Tick, 'pending'>,
  at: Date,
): object {
  const recipient = customer.hidesNumber
    ? { recipient_user_id: customer.userId }
    : { recipient_id: customer.waId, recipient_user_id: customer.userId }
  return {
    ...valueHead(number),
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
          : { pricing: pricingOf(message) }),
      },
    ],
  }
}

function pricingOf({ category }: ChatMessage): object {
  const isService = category === 'service'
  return {
    billable: !isService,
    pricing_model: 'PMP',
    type: isService ? 'free_customer_service' : 'regular',
    category,
  }
}
