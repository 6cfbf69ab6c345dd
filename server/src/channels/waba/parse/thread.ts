import { type ThreadOwner, threadOwners } from '../../channel-event.ts'
import type { ParsedItem } from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { parseContent } from './content.ts'
import { parseMessage } from './messages.ts'
import { findCustomer, type ParseContext, parsePlatformTime } from './values.ts'

// Another app on the number has the conversation, such as the platform's own AI agent: the platform sends us copies.

/** Parses an item of `standby.messages`: a customer wrote to the other app. */
export function parseStandbyMessage(context: ParseContext, message: JsonObject): ParsedItem {
  const parsed = [parseMessage(context, message)].flat()
  return parsed.map((event) =>
    typeof event === 'string' || event.type !== 'message' ? event : { ...event, isStandby: true },
  )
}

/** Parses an item of `standby.message_echoes`: the other app wrote. `message` is the body of its request to send. */
export function parseStandbyEcho(context: ParseContext, item: JsonObject): ParsedItem {
  const message = objectOf(item.message)
  const externalId = tokenOf(item.id)
  if (message.recipient_type === 'group') return 'echo in a group'
  if (externalId === null) return 'echo without an id'
  const customer = findCustomer(context.contacts, message.to, message.recipient, null)
  if (customer === null) return 'echo without a receiver'
  const content = parseContent(readable(message))
  if (content === null) return 'echo without content'
  const at = parsePlatformTime(item.timestamp, context.now)
  return { type: 'echo', externalId, customer, ...content, at, isStandby: true }
}

/** Returns a sent message in the form of a received one: these differ in what the customer is offered to choose. */
function readable(message: JsonObject): JsonObject {
  if (message.type !== 'interactive') return message
  const { header, body, footer, action } = objectOf(message.interactive)
  const lines = [
    textOf(objectOf(header).text),
    textOf(objectOf(body).text),
    textOf(objectOf(footer).text),
    ...optionsOf(objectOf(action)).map((title) => `• ${title}`),
  ]
  const text = lines.filter((line) => line !== null).join('\n')
  return { ...message, type: 'text', text: { body: text } }
}

/** Returns the titles of the buttons, or of the rows of the list. */
function optionsOf({ buttons, sections }: JsonObject): string[] {
  const rows = listOf(sections).flatMap((section) => listOf(objectOf(section).rows))
  return [...listOf(buttons), ...rows].slice(0, maxOptions).flatMap((one) => {
    const { title, reply } = objectOf(one)
    return textOf(title) ?? textOf(objectOf(reply).title) ?? []
  })
}

const maxOptions = 20

/**
 * Parses `value` of a `messaging_handovers`: `control_passed` goes to the app that has the conversation from now on, and
 * `control_taken` to the one that has lost it.
 */
export function parseHandover(context: ParseContext, value: JsonObject): ParsedItem {
  const type = textOf(value.type)
  if (type !== 'control_passed' && type !== 'control_taken') return 'unknown handover'
  const { phone_number, wa_id, user_id, parent_user_id } = objectOf(value.sender)
  const customer = findCustomer(context.contacts, phone_number ?? wa_id, user_id, parent_user_id)
  // The platform leaves the phone out where it does not have it. The next message then tells whose conversation it is.
  if (customer === null) return 'handover without a customer'
  const owner = type === 'control_passed' ? null : ownerOf(objectOf(value.control_taken).new_owner_role)
  return { type: 'thread_control', customer, owner, at: parsePlatformTime(value.timestamp, context.now) }
}

function ownerOf(role: unknown): ThreadOwner {
  const name = textOf(role)?.toLowerCase()
  return threadOwners.find((owner) => owner === name) ?? 'other_app'
}
