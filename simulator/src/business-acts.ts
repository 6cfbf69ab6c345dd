import type { StoredFile } from './files/file-store.ts'
import { type FileKind, shownWith } from './files/shown-file.ts'
import { contentOf } from './inbound.ts'
import { startLadder } from './ladder.ts'
import { makePhoneId } from './linked/shapes.ts'
import { tellOutbound } from './linked/tell.ts'
import type { Platform } from './platform.ts'
import type { SimulatedTemplate } from './template.ts'
import { addressOf, contactOf, seconds, valueHead } from './values.ts'
import { makeWamid } from './wamid.ts'
import { addMessage, type BusinessNumber, type ChatMessage, type Customer } from './world.ts'

/** A person at the business types on the phone of a number that is used there as well. */
export function typeOnDevice(
  platform: Platform,
  number: BusinessNumber,
  customer: Customer,
  text: string,
  carried: Carried | null = null,
): ChatMessage {
  const { clock, courier } = platform
  const now = clock.now()
  const isLinked = number.network === 'linked'
  const id = isLinked ? makePhoneId() : makeWamid(addressOf(customer), 'outbound')
  const shown = carried === null ? { text } : shownWith(carried.file, carried.kind, text)
  const message = addMessage(customer, { ...shown, id, from: 'device', at: now })
  startLadder(platform, number, customer, message, null)
  platform.changed()
  if (isLinked) {
    tellOutbound(platform, number, customer, message, null)
    return message
  }
  const echo = {
    from: number.phone,
    ...(customer.hidesNumber ? {} : { to: customer.waId }),
    to_user_id: customer.userId,
    id,
    timestamp: seconds(now),
    ...(carried === null
      ? { type: 'text', text: { body: text } }
      : contentOf(
          { kind: carried.kind, text, about: null, file: carried.file },
          { businessPhone: number.phone, customerPhone: customer.waId },
        )),
  }
  const value = { ...valueHead(number), contacts: [contactOf(customer)], message_echoes: [echo] }
  courier.send(number, { field: 'smb_message_echoes', value, lane: customer.id })
  return message
}

/** A file that somebody at the business sends from the phone. */
export interface Carried {
  kind: FileKind
  file: StoredFile
}

/** Tells of a template's new status; callbacks take it as a hint to read the list again. */
export function announceTemplate(platform: Platform, template: SimulatedTemplate, event: string): void {
  const value = {
    event,
    message_template_id: Number(template.id),
    message_template_name: template.name,
    message_template_language: template.language,
    message_template_category: template.category,
    reason: event === 'REJECTED' ? (template.rejected_reason ?? 'INVALID_FORMAT') : 'NONE',
  }
  announce(platform, 'message_template_status_update', value)
}

export const accountEvents = [
  'ACCOUNT_RESTRICTION',
  'ACCOUNT_VIOLATION',
  'DISABLED_UPDATE',
  'PARTNER_REMOVED',
  'ACCOUNT_OFFBOARDED',
  'ACCOUNT_RECONNECTED',
] as const

/** Something happens to the account of a number. */
export function announceAccount(
  { courier }: Platform,
  number: BusinessNumber,
  event: (typeof accountEvents)[number],
): void {
  courier.send(number, { field: 'account_update', value: { event }, isTimed: true })
}

// Every account has the same templates here, and is told of each once.
function announce({ courier, world }: Platform, field: string, value: object): void {
  const accounts = new Map([...world.numbers.values()].map((number) => [number.accountId, number]))
  for (const number of accounts.values()) courier.send(number, { field, value, isTimed: true })
}
