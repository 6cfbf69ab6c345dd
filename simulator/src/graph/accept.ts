import type { FastifyReply } from 'fastify'
import { takeFault } from '../faults.ts'
import type { Platform } from '../platform.ts'
import { addressOf, markRead, startLadder } from '../values.ts'
import { makeWamid } from '../wamid.ts'
import {
  addCustomer,
  addMessage,
  type BusinessNumber,
  type Customer,
  componentOf,
  findByPhone,
  findByUserId,
  findMessage,
  messageIn,
  windowIsOpen,
} from '../world.ts'
import { type Address, checkSend, type SendRequest } from './check-send.ts'
import { answerWithFault } from './fault-answer.ts'
import { GraphError } from './graph-error.ts'

const closedWindow = 131047

/** Takes a message and answers as the platform does: accepted, which is not delivered. `failWith` ends it by that code. */
export function acceptSend(
  platform: Platform,
  number: BusinessNumber,
  request: SendRequest,
  failWith: number | null,
): object {
  const { to, content } = request
  const customer = findOrMeet(platform, number, to)
  const id = makeWamid(addressOf(customer), 'outbound')
  const isTemplate = content.kind === 'template'
  const now = platform.clock.now()
  const message = addMessage(customer, { ...shownOf(customer, request), id, from: 'business', at: now })
  const mayWrite = isTemplate || windowIsOpen(number, customer, now)
  const failure = failWith ?? (mayWrite ? failureOf(customer, content) : closedWindow)
  if (content.kind === 'reaction' && failure === null) react(customer, content)
  startLadder(platform, number, customer, message, failure)
  platform.changed()
  const known = to.phone === null ? { user_id: to.input } : { wa_id: customer.waId }
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: to.input, ...known }],
    messages: [{ id, ...(isTemplate ? { message_status: 'accepted' } : {}) }],
  }
}

type Content = SendRequest['content']

function shownOf(customer: Customer, { content, correlator, quotes }: SendRequest) {
  if (content.kind === 'reaction') return { kind: 'quiet', text: content.emoji ?? '', correlator }
  // What is quoted and is not there any more is not shown, and the message is there all the same.
  const told = { correlator, text: content.text, quotes: messageIn(customer, quotes)?.id ?? null }
  if (content.kind === 'template') return { ...told, kind: content.kind, ...content.parts, ...dressOf(content) }
  return content.kind === 'text' ? { ...told, kind: content.kind } : { ...told, kind: content.kind, ...content.parts }
}

const notThere = 131009

// Neither what is unknown nor a reaction can be reacted to: that shows after it was accepted.
function failureOf(customer: Customer, content: Content): number | null {
  if (content.kind === 'text') return null
  if (content.kind !== 'reaction') return content.failWith
  const about = messageIn(customer, content.messageId)
  return about === undefined || about.kind === 'quiet' || about.isWithdrawn ? notThere : null
}

function react(customer: Customer, { messageId, emoji }: Extract<Content, { kind: 'reaction' }>): void {
  const about = messageIn(customer, messageId)
  if (about !== undefined) about.reactions.business = emoji
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

function dressOf({ template, header }: Extract<Content, { kind: 'template' }>) {
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

/** Takes a message or a mark of reading for a number, unless a fault meets it. */
export function takeMessage(platform: Platform, number: BusinessNumber, body: unknown, reply: FastifyReply): unknown {
  if (!number.registered) throw new GraphError(133010)
  const checked = checkSend(body, number, { templates: platform.world.templates.values(), files: platform.files })
  if (checked.act === 'read') {
    const answer = () => acceptRead(platform, number, checked.messageId)
    const fault = takeFault(platform.faults, 'read', [])
    return fault === undefined ? answer() : answerWithFault(platform, fault, reply, answer)
  }
  const fault = takeFault(platform.faults, 'send', [checked.to.phone, checked.to.userId])
  if (fault === undefined) return acceptSend(platform, number, checked, null)
  return answerWithFault(platform, fault, reply, (failWith) => acceptSend(platform, number, checked, failWith))
}
