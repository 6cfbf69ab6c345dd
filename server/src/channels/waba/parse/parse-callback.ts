import {
  type ChannelEvent,
  type DeliveredEvent,
  type ParsedCallback,
  type ThreadOwner,
  threadOwners,
} from '../../channel-event.ts'
import type { Restriction } from '../../health/holds.ts'
import { normalizeLanguage, type TemplateReview } from '../../templates/templates.ts'
import { type ParsedItem, parseItems } from '../../untrusted-values.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { parseQuality, parseReason } from '../templates.ts'
import { parseContent } from './content.ts'
import { parseCall, parseEcho, parseMessage, parseStatus, parseUserIdUpdate } from './messages.ts'
import { numberHints, parseNumberHint } from './number-status.ts'
import { parseVolumeTier } from './pricing.ts'
import {
  findCustomer,
  type ParseContext,
  parseEnd,
  parseNumber,
  parsePhone,
  parsePlatformTime,
  parseUserId,
} from './values.ts'

type HistoryEvent = Extract<ChannelEvent, { type: 'history' }>

const statuses: ReadonlyMap<unknown, HistoryEvent['status']> = new Map<string, HistoryEvent['status']>([
  ['PENDING', 'pending'],
  ['SENT', 'sent'],
  ['DELIVERED', 'delivered'],
  ['READ', 'read'],
  ['PLAYED', 'read'],
  ['ERROR', 'failed'],
])

/** Parses an item of `value.history`: messages from before the number was connected, or a refusal to share them. */
function parseHistory(context: ParseContext, chunk: JsonObject): ParsedItem {
  if (listOf(chunk.errors).length > 0) return 'history not shared by the business'
  return listOf(chunk.threads).flatMap((one) => {
    const thread = objectOf(one)
    return listOf(thread.messages).flatMap((message) => parseOldMessage(context, objectOf(message), thread))
  })
}

/** Parses an item of `value.messages` of a history: the media of an earlier history message. */
function parseHistoryMedia(context: ParseContext, message: JsonObject): ParsedItem {
  return parseOldMessage(context, message, {})
}

function parseOldMessage(context: ParseContext, message: JsonObject, thread: JsonObject): HistoryEvent | string {
  const externalId = tokenOf(message.id)
  if (message.group_id !== undefined) return 'message in a group'
  const content = parseContent(message)
  if (content === null || externalId === null) return 'history message without content'
  const direction = isFromBusiness(context, message, thread) ? 'outbound' : 'inbound'
  const customer = partnerOf(context, message, thread, direction)
  if (customer === null) return 'history message without a customer'
  const status = statuses.get(objectOf(message.history_context).status) ?? 'delivered'
  const at = parsePlatformTime(message.timestamp, context.now)
  return { type: 'history', direction, externalId, customer, ...content, status, at }
}

function isFromBusiness({ ownPhone }: ParseContext, message: JsonObject, thread: JsonObject): boolean {
  const from = tokenOf(message.from)
  const customer = tokenOf(thread.id)
  if (customer !== null && (from === customer || textOf(message.from_user_id) === customer)) return false
  if (from !== null && parsePhone(from) === ownPhone) return true
  return message.to !== undefined || message.to_user_id !== undefined
}

function partnerOf(
  { contacts }: ParseContext,
  message: JsonObject,
  thread: JsonObject,
  direction: HistoryEvent['direction'],
) {
  const { wa_id, user_id, parent_user_id } = objectOf(thread.context)
  const [address, userId] =
    direction === 'inbound' ? [message.from, message.from_user_id] : [message.to, message.to_user_id]
  return (
    findCustomer(contacts, thread.id ?? wa_id, user_id ?? userId, parent_user_id) ??
    findCustomer(contacts, address ?? wa_id, userId ?? user_id, parent_user_id)
  )
}

const lossEvents = new Set(['PARTNER_REMOVED', 'ACCOUNT_OFFBOARDED', 'ACCOUNT_DELETED'])
const recoveryEvents = new Set(['ACCOUNT_RECONNECTED', 'PARTNER_ADDED', 'PARTNER_APP_INSTALLED'])

/** Returns the event for an `account_update`; null if it affects neither what the account may do nor its prices. */
export function parseAccountUpdate(
  value: JsonObject,
  now: Date,
): Extract<ChannelEvent, { type: 'connection_state' | 'account_restricted' | 'volume_tier' }> | null {
  const event = textOf(value.event) ?? ''
  if (event === 'VOLUME_BASED_PRICING_TIER_UPDATE') return parseVolumeTier(objectOf(value.volume_tier_info), now)
  if (event === 'ACCOUNT_RESTRICTION') return { type: 'account_restricted', all: parseRestrictions(value) }
  if (event === 'ACCOUNT_VIOLATION') return { type: 'account_restricted', added: [parseViolation(value, now)] }
  if (lossEvents.has(event)) return { type: 'connection_state', available: false, reason: event.toLowerCase() }
  if (recoveryEvents.has(event)) return { type: 'connection_state', available: true, reason: event.toLowerCase() }
  if (event !== 'DISABLED_UPDATE') return null
  const ban = textOf(objectOf(value.ban_info).waba_ban_state) ?? 'DISABLE'
  if (ban === 'REINSTATE') return { type: 'connection_state', available: true, reason: 'account_reinstated' }
  // Announced for later: the account works until then.
  return ban === 'SCHEDULE_FOR_DISABLE'
    ? null
    : { type: 'connection_state', available: false, reason: 'account_disabled' }
}

const restrictionTypes: ReadonlyMap<string, Pick<Restriction, 'stops' | 'reason'>> = new Map([
  ['RESTRICTED_BIZ_INITIATED_MESSAGING', { stops: 'initiated', reason: 'account_restricted_initiated' }],
  ['RESTRICTED_CUSTOMER_INITIATED_MESSAGING', { stops: 'replies', reason: 'account_restricted_replies' }],
  ['RESTRICTED_ADD_PHONE_NUMBER_ACTION', { stops: 'nothing', reason: 'account_restricted_numbers' }],
])
const otherRestriction = { stops: 'nothing', reason: 'account_restricted_other' } as const

/** Returns one restriction per kind: the platform lists all current ones. */
function parseRestrictions(value: JsonObject): Restriction[] {
  const found = new Map<string, Restriction>()
  for (const item of listOf(value.restriction_info)) {
    const { restriction_type, expiration } = objectOf(item)
    const known = restrictionTypes.get(textOf(restriction_type) ?? '') ?? otherRestriction
    found.set(known.reason, { ...known, until: parseEnd(expiration) })
  }
  return [...found.values()]
}

/** How long a warning is shown if no restriction follows. */
const violationShownMs = 30 * 86_400_000

function parseViolation(value: JsonObject, now: Date): Restriction {
  const type = textOf(objectOf(value.violation_info).violation_type)?.toLowerCase() ?? ''
  const name = /^[a-z0-9_]{1,60}$/.test(type) ? `_${type}` : ''
  return { stops: 'nothing', reason: `account_violation${name}`, until: new Date(now.getTime() + violationShownMs) }
}

/** Returns the account of an `account_update`, which may differ from the entry's. */
function accountOf(value: JsonObject, entryId: string | null): string | null {
  return tokenOf(objectOf(value.waba_info).waba_id) ?? entryId
}

/** Parses an item of `value.state_sync`: a name was added to or removed from the phone's contacts. */
function parseContactSync(_context: ParseContext, sync: JsonObject): ParsedItem {
  const { full_name, first_name, phone_number, user_id } = objectOf(sync.contact)
  const name = (textOf(full_name) ?? textOf(first_name))?.trim().slice(0, 255)
  const customer = {
    userId: parseUserId(user_id),
    parentUserId: null,
    phone: parsePhone(phone_number),
    name: name || null,
  }
  const isKnown = customer.userId !== null || customer.phone !== null
  if (sync.action === 'remove' || customer.name === null || !isKnown) return 'contact without a name'
  return { type: 'contact_named', customer }
}

const preferences: ReadonlyMap<string | null, boolean> = new Map([
  ['stop', true],
  ['resume', false],
])

/** Parses an item of `value.user_preferences`: whether a customer wants marketing messages. */
function parsePreference(context: ParseContext, item: JsonObject): ParsedItem {
  const isStopped = preferences.get(textOf(item.value)?.trim().toLowerCase() ?? null)
  if (item.category !== 'marketing_messages' || isStopped === undefined) return 'unknown preference'
  const [first, second] = context.contacts.listed
  const named = findCustomer(context.contacts, item.wa_id, item.user_id, item.parent_user_id)
  const customer = named ?? (second === undefined ? first : undefined)
  if (customer === undefined || (customer.phone === null && customer.userId === null)) {
    return 'preference without a customer'
  }
  const at = parsePlatformTime(item.timestamp, context.now)
  return { type: 'marketing_preference', customer, isStopped, source: 'setting', at }
}

type TemplatesChanged = Extract<ChannelEvent, { type: 'templates_changed' }>

const templateHints: ReadonlySet<string> = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
])

/** Parses a change of a template: it is applied at once, and corrected by the sync that follows each. */
function parseTemplateChange(field: string, value: JsonObject): TemplatesChanged {
  const [name, language] = [textOf(value.message_template_name), textOf(value.message_template_language)]
  const event: TemplatesChanged = { type: 'templates_changed' }
  if (name === null || language === null) return event
  const one = { name, language: normalizeLanguage(language) }
  if (field === 'message_template_status_update') {
    const review = parseReview(one, value)
    return review === null ? event : { ...event, review }
  }
  if (field === 'message_template_quality_update') {
    return { ...event, quality: { ...one, quality: parseQuality(value.new_quality_score) } }
  }
  const category = field === 'template_category_update' ? parseCategory(value) : null
  return category === null ? event : { ...event, category: { ...one, category } }
}

/** Events whose name is not the new status. A deleted template is removed by the sync. */
const statusesByEvent: Readonly<Record<string, string | null>> = {
  REINSTATED: 'APPROVED',
  UNARCHIVED: 'APPROVED',
  FLAGGED: null,
  LOCKED: null,
  UNLOCKED: null,
  DELETED: null,
}

const maxNoteLength = 1000

function parseReview(one: Pick<TemplateReview, 'name' | 'language'>, value: JsonObject): TemplateReview | null {
  const event = textOf(value.event)?.toUpperCase() ?? ''
  if (!/^[A-Z_]{1,40}$/.test(event)) return null
  const status = Object.hasOwn(statusesByEvent, event) ? (statusesByEvent[event] ?? null) : event
  const { reason, recommendation } = objectOf(value.rejection_info)
  const { description } = objectOf(value.other_info)
  const words = [reason, recommendation, description].map((text) => textOf(text)?.trim() ?? '')
  const note = words.filter((text) => text !== '').join('\n')
  return {
    ...one,
    status,
    reason: parseReason(value.reason),
    note: note.slice(0, maxNoteLength).toWellFormed() || null,
  }
}

/**
 * Parses the new category of a completed change; null for one that is only announced, which names the future category in
 * `correct_category` and the current one in `new_category`.
 */
function parseCategory(value: JsonObject): string | null {
  if (value.correct_category !== undefined) return null
  const category = textOf(value.new_category)?.toUpperCase() ?? ''
  return /^[A-Z_]{1,40}$/.test(category) ? category : null
}

// Another app on the number has the conversation, such as the platform's own AI agent: the platform sends us copies.

/** Parses an item of `standby.messages`: a customer wrote to the other app. */
function parseStandbyMessage(context: ParseContext, message: JsonObject): ParsedItem {
  const parsed = [parseMessage(context, message)].flat()
  return parsed.map((event) =>
    typeof event === 'string' || event.type !== 'message' ? event : { ...event, isStandby: true },
  )
}

/** Parses an item of `standby.message_echoes`: the other app wrote. `message` is the body of its request to send. */
function parseStandbyEcho(context: ParseContext, item: JsonObject): ParsedItem {
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
function parseHandover(context: ParseContext, value: JsonObject): ParsedItem {
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

type ParseItem = (context: ParseContext, item: JsonObject) => ParsedItem

/** Parsers by field of a change and name of its list. */
const itemParsers: Record<string, Record<string, ParseItem>> = {
  messages: { messages: parseMessage, statuses: parseStatus },
  smb_message_echoes: { message_echoes: parseEcho },
  smb_app_state_sync: { state_sync: parseContactSync },
  history: { history: parseHistory, messages: parseHistoryMedia },
  calls: { calls: parseCall },
  user_preferences: { user_preferences: parsePreference },
  user_id_update: { user_id_update: parseUserIdUpdate, user_id_updates: parseUserIdUpdate },
}

// Also without the level of its own that the platform documents.
const standbyParsers: Record<string, ParseItem> = {
  messages: parseStandbyMessage,
  message_echoes: parseStandbyEcho,
  statuses: parseStatus,
}

/** Parses one callback. Accepts any data: names in `skipped` what it does not understand and parses the rest. */
export function parseCallback(payload: unknown, now: Date): ParsedCallback {
  const parsed: ParsedCallback = { items: [], skipped: [] }
  const { object, entry } = objectOf(payload)
  if (object !== 'whatsapp_business_account') return { items: [], skipped: ['not from this platform'] }
  for (const one of listOf(entry)) {
    const { id, changes } = objectOf(one)
    for (const change of listOf(changes)) parseChange(parsed, tokenOf(id), objectOf(change), now)
  }
  return { items: withoutRepeats(parsed), skipped: parsed.skipped }
}

function parseChange(parsed: ParsedCallback, entryId: string | null, change: JsonObject, now: Date): void {
  const value = objectOf(change.value)
  const field = tokenOf(change.field) ?? ''
  const add = (event: ChannelEvent, accountId = entryId) => parsed.items.push({ numberId: null, accountId, event })
  if (templateHints.has(field)) add(parseTemplateChange(field, value))
  else if (numberHints.has(field)) add(parseNumberHint(value))
  else if (field === 'account_update') {
    const event = parseAccountUpdate(value, now)
    if (event === null) parsed.skipped.push('account update without effect')
    else add(event, accountOf(value, entryId))
  } else if (field === 'standby') {
    parseLists(parsed, standbyParsers, { ...value, ...objectOf(value.standby) }, now)
  } else if (field === 'messaging_handovers') {
    // The number is that of the receiver, not in `metadata`.
    parseLists(parsed, { handover: parseHandover }, { metadata: value.recipient, ...value, handover: [value] }, now)
  } else {
    const parsers = Object.hasOwn(itemParsers, field) ? itemParsers[field] : undefined
    if (parsers === undefined) parsed.skipped.push('unsupported field')
    else parseLists(parsed, parsers, value, now)
  }
}

function parseLists(parsed: ParsedCallback, parsers: Record<string, ParseItem>, value: JsonObject, now: Date): void {
  const { numberId, ...shared } = parseNumber(value)
  if (listOf(value.errors).length > 0) parsed.skipped.push('error about the number, not a message')
  for (const [list, parseItem] of Object.entries(parsers)) {
    for (const parsedItem of parseItems(listOf(value[list]), (item) => parseItem({ ...shared, now }, item))) {
      if (typeof parsedItem === 'string') parsed.skipped.push(parsedItem)
      else parsed.items.push({ numberId, accountId: null, event: parsedItem })
    }
  }
}

function withoutRepeats({ items, skipped }: ParsedCallback): DeliveredEvent[] {
  const seen = new Set<string>()
  return items.filter(({ numberId, event }) => {
    const id = isWritten(event) ? `${numberId} ${event.externalId}` : null
    if (id === null || !seen.has(id)) {
      if (id !== null) seen.add(id)
      return true
    }
    skipped.push('duplicate message')
    return false
  })
}

function isWritten(event: ChannelEvent): event is Extract<ChannelEvent, { type: 'message' | 'echo' }> {
  return event.type === 'message' || event.type === 'echo'
}
