import { startLadder } from '../ladder.ts'
import type { Platform } from '../platform.ts'
import { markRead } from '../read.ts'
import { componentOf } from '../template.ts'
import { addressOf } from '../values.ts'
import { makeWamid } from '../wamid.ts'
import {
  addCustomer,
  addMessage,
  type BusinessNumber,
  type Customer,
  findByPhone,
  findByUserId,
  findMessage,
  windowIsOpen,
} from '../world.ts'
import type { Address, SendRequest } from './check-send.ts'
import { GraphError } from './graph-error.ts'

const closedWindow = 131047

/** Takes a message and answers as the platform does: accepted, which is not delivered. `failWith` ends it by that code. */
export function acceptSend(
  platform: Platform,
  number: BusinessNumber,
  request: SendRequest,
  failWith: number | null,
): object {
  const { to, content, correlator } = request
  const customer = findOrMeet(platform, number, to)
  const id = makeWamid(addressOf(customer), 'outbound')
  const isTemplate = content.kind === 'template'
  const now = platform.clock.now()
  const message = addMessage(customer, {
    id,
    from: 'business',
    kind: content.kind,
    text: content.text,
    at: now,
    correlator,
    ...(isTemplate ? dressOf(content) : {}),
  })
  const mayWrite = isTemplate || windowIsOpen(number, customer, now)
  startLadder(platform, number, customer, message, failWith ?? (mayWrite ? null : closedWindow))
  platform.changed()
  const known = to.phone === null ? { user_id: to.input } : { wa_id: customer.waId }
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: to.input, ...known }],
    messages: [{ id, ...(isTemplate ? { message_status: 'accepted' } : {}) }],
  }
}

// A number that was never seen has a phone all the same; a user id that nobody has is a mistake.
function findOrMeet(platform: Platform, number: BusinessNumber, to: Address): Customer {
  const { world } = platform
  if (to.phone === null) {
    const known = findByUserId(world, number.numberId, to.input)
    if (known === undefined) throw new GraphError(131009, { details: 'Parameter recipient is not a known user id.' })
    return known
  }
  const known = findByPhone(world, number.numberId, to.phone)
  const phone = waIdOf(to.phone)
  return known ?? addCustomer(world, { numberId: number.numberId, name: `+${phone}`, phone })
}

function dressOf({ template, header }: Extract<SendRequest['content'], { kind: 'template' }>) {
  return {
    header,
    footer: componentOf(template, 'FOOTER')?.text ?? null,
    buttons: (componentOf(template, 'BUTTONS')?.buttons ?? []).map(({ text }) => text),
    category: template.category.toLowerCase(),
  }
}

/** The business has read up to this message of the customer. */
export function acceptRead(platform: Platform, number: BusinessNumber, messageId: string): object {
  const found = findMessage(platform.world, number.numberId, messageId)
  if (found === undefined || found[1].from !== 'customer') {
    throw new GraphError(131009, { details: 'Message id is not a message that this number received.' })
  }
  markRead(platform, ...found)
  return { success: true }
}

/**
 * The key under which the platform knows a number that nobody has written from yet. Accounts of most of Brazil are
 * older than the ninth digit, and Mexican mobiles keep their 1, whatever people dial today.
 */
function waIdOf(digits: string): string {
  const rule = oldSpellings.find(({ shape }) => shape.test(digits))
  return rule === undefined ? digits : digits.replace(rule.shape, rule.waId)
}

const oldSpellings = [
  { shape: /^55(?<area>[3-9][1-9])9(?<local>[6-9]\d{7})$/, waId: '55$<area>$<local>' },
  { shape: /^52(?<rest>[2-9]\d{9})$/, waId: '521$<rest>' },
]
