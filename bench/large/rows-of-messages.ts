import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../server/src/base/encryption/keyring.ts'
import { newId } from '../../server/src/base/id.ts'
import { messageReceived, messageSent } from '../../server/src/inbox/conversation/change.ts'
import type { Conversation } from '../../server/src/inbox/conversation/conversation.ts'
import { noMarks } from '../../server/src/inbox/conversation/conversation-state.ts'
import { encryptConversation } from '../../server/src/inbox/conversation/encrypted-conversation.ts'
import { encryptMessage, type Message } from '../../server/src/inbox/conversation/message.ts'
import { agent, human } from '../../server/src/inbox/conversation/owner.ts'
import { conversationTokens } from '../../server/src/inbox/search/conversation-tokens.ts'
import { epochSize, messageTokens } from '../../server/src/inbox/search/message-tokens.ts'
import { customerPhone } from '../inbox-seed.ts'
import { chatText, rareEvery } from '../parts/message-search/chat-words.ts'
import { person } from '../people.ts'
import { eventRow } from './event-row.ts'
import type { RowBufferOf } from './rows-of-leads.ts'
import { addCopy, idBytes, positionBytes, randomBytesOf, type Template, templateOf, uuidBytes } from './templates.ts'
import {
  agesAt,
  connectionOf,
  conversationAt,
  conversationId,
  isDecryptable,
  isLarge,
  type Job,
  messageEvents,
  messageTime,
  minutesOf,
  positionAt,
  startOf,
  type Tenant,
} from './tenant.ts'

const statuses = ['open', 'open', 'open', 'open', 'pending', 'resolved', 'resolved', 'closed'] as const
/** Number of different texts: tokenizing every message separately would take most of the time. */
const texts = 4_096
const openHours = 24

/** Returns the n-th conversation of a tenant, newest first. Every third is owned by people. */
function conversationOf(tenant: Tenant, n: number): Conversation {
  const phone = customerPhone(n)
  const at = messageTime(tenant, n, 0)
  const isWaiting = n % 10 === 0
  const { firstName, lastName } = person(n)
  return {
    id: conversationId(tenant, n),
    connectionId: connectionOf(tenant, n),
    channel: 'waba',
    contact: {
      name: `${firstName} ${lastName}`,
      phone,
      userId: null,
      parentUserId: null,
      address: { phone, userId: null },
    },
    owner: n % 3 === 0 ? human : agent(tenant.keyId),
    ownerEpoch: 1,
    ownerSince: at,
    held: false,
    handover: null,
    thread: null,
    status: statuses[n % statuses.length] ?? 'open',
    snoozedUntil: null,
    assignedTo: null,
    teamId: null,
    labelIds: [],
    priority: null,
    goal: null,
    unreadCount: isWaiting ? 1 : 0,
    windowExpiresAt: new Date(at.getTime() + openHours * 3_600_000),
    lastMessageAt: at,
    unansweredSince: isWaiting ? at : null,
    inbound: noMarks,
    lastMessage: { direction: 'inbound', kind: 'text', text: 'Hello, is the blue one still there?' },
    createdAt: startOf(tenant, n),
    updatedAt: at,
  }
}

/** Adds conversations with the tokens of their customers, oldest first. */
export function addConversations(tenant: Tenant, keyring: Keyring, { from, to }: Job, sheetOf: RowBufferOf): void {
  const { workspaceId, conversations } = tenant
  for (let n = from; n < to; n++) {
    const conversation = conversationOf(tenant, conversations - 1 - n)
    sheetOf('conversations').add({ workspace_id: workspaceId, ...encryptConversation(keyring, conversation) })
    sheetOf('conversation_search').add({
      workspace_id: workspaceId,
      conversation_id: conversation.id,
      index_version: keyring.indexVersion,
      tokens: conversationTokens(keyring, conversation.contact),
    })
  }
}

/** Adds messages by their minutes, with their tokens; outbound ones with a part, recent ones with events. */
export function addMessages(tenant: Tenant, keyring: Keyring, { from, to, before }: Job, sheetOf: RowBufferOf): void {
  let number = before
  for (let minute = from; minute < to; minute++) {
    const minutesBack = minutesOf(tenant) - 1 - minute
    const { first, last } = agesAt(tenant, minutesBack)
    for (let age = first; age <= last; age++)
      addMessage(tenant, keyring, { minutesBack, age, number: number++ }, sheetOf)
  }
}

interface MessagePosition {
  minutesBack: number
  age: number
  /** Index among all messages of the tenant. */
  number: number
}

function addMessage(
  tenant: Tenant,
  keyring: Keyring,
  { minutesBack, age, number }: MessagePosition,
  sheetOf: RowBufferOf,
): void {
  const { workspaceId } = tenant
  const n = conversationAt(minutesBack, age)
  const at = messageTime(tenant, minutesBack, age)
  const isInbound = age % 2 === 0
  const position = positionAt(tenant, at, age * messageEvents)
  if (!isDecryptable(tenant, n)) {
    addUndecryptable(tenant, keyring, { n, at, isInbound, position }, sheetOf)
    return
  }
  const { text, tokens } = textOf(keyring, number)
  const conversation = conversationOf(tenant, n)
  const message = messageOf(conversation, text, at, isInbound)
  const row = encryptMessage(keyring, message)
  sheetOf('messages').add({ workspace_id: workspaceId, ...row })
  if (tokens.length > 0 && !isLarge(tenant)) {
    const own = { message_id: row.id, index_version: keyring.indexVersion, epoch: epochOf(number), tokens }
    sheetOf('message_search').add({ workspace_id: workspaceId, ...own })
  }
  if (position === null) return
  const event = isInbound ? messageReceived(conversation, message, at) : messageSent(conversation, message)
  sheetOf('events').add(eventRow(keyring, workspaceId, event, at, position))
  if (isInbound) return
  sheetOf('sends').add(sendRow(tenant, row.id, row.conversation_id, at))
  sheetOf('message_parts').add(partRow(workspaceId, row.id, row.connection_id, row.external_index))
}

interface UndecryptableMessage {
  n: number
  at: Date
  isInbound: boolean
  position: number | null
}

interface UndecryptableTemplates {
  message: Template
  event: Template
  send: Template
  part: Template
}

const undecryptableOf = new WeakMap<Keyring, { inbound: UndecryptableTemplates; outbound: UndecryptableTemplates }>()

/** Adds a message that cannot be decrypted, with random bytes of a typical length as content. */
function addUndecryptable(
  tenant: Tenant,
  keyring: Keyring,
  { n, at, isInbound, position }: UndecryptableMessage,
  sheetOf: RowBufferOf,
): void {
  const both = undecryptableOf.get(keyring) ?? undecryptableTemplates(tenant, keyring, sheetOf)
  undecryptableOf.set(keyring, both)
  const blind = isInbound ? both.inbound : both.outbound
  const ms = at.getTime()
  const [id, external_index, conversation_id] = [idBytes(ms), randomBytesOf(16), uuidBytes(conversationId(tenant, n))]
  const connection_id = uuidBytes(connectionOf(tenant, n))
  const own = { id, conversation_id, connection_id, external_index, occurred_at: ms, created_at: ms }
  addCopy(sheetOf('messages'), blind.message, own)
  if (position === null) return
  const told = { id: idBytes(ms), subject_id: conversation_id, connection_id, occurred_at: ms }
  addCopy(sheetOf('events'), blind.event, { ...told, position: positionBytes(position) })
  if (isInbound) return
  const key = { idempotency_key: `send-${id.toString('hex')}0000`, conversation_id, message_id: id, created_at: ms }
  addCopy(sheetOf('sends'), blind.send, key)
  addCopy(sheetOf('message_parts'), blind.part, { message_id: id, connection_id, external_index })
}

function undecryptableTemplates(tenant: Tenant, keyring: Keyring, sheetOf: RowBufferOf) {
  const { workspaceId } = tenant
  const conversation = conversationOf(tenant, 0)
  const at = new Date(tenant.endMs)
  const text = 'A message of about the length that messages have, as people write them to each other in a chat.'
  const templates = (isInbound: boolean): UndecryptableTemplates => {
    const message = messageOf(conversation, text, at, isInbound)
    const row = encryptMessage(keyring, message)
    const event = isInbound ? messageReceived(conversation, message, at) : messageSent(conversation, message)
    const of = (table: string, values: object) => templateOf(sheetOf(table), values as Record<string, unknown>)
    return {
      message: of('messages', { workspace_id: workspaceId, ...row }),
      event: of('events', eventRow(keyring, workspaceId, event, at, 1)),
      send: of('sends', sendRow(tenant, row.id, row.conversation_id, at)),
      part: of('message_parts', partRow(workspaceId, row.id, row.connection_id, row.external_index)),
    }
  }
  return { inbound: templates(true), outbound: templates(false) }
}

const partRow = (workspaceId: string, messageId: string, connectionId: string, externalIndex: Buffer | null) => ({
  workspace_id: workspaceId,
  message_id: messageId,
  part: 1,
  connection_id: connectionId,
  external_index: externalIndex,
  status: 'delivered',
})

const epochOf = (number: number): number => Math.floor(number / epochSize)

interface MessageText {
  text: string
  tokens: readonly number[]
}

const textsOfEpoch = new WeakMap<Keyring, { epoch: number; said: Map<number, MessageText> }>()

/** Returns the text of a message, one of `texts`, and its tokens in its epoch. */
function textOf(keyring: Keyring, number: number): MessageText {
  const epoch = epochOf(number)
  const isRare = number % rareEvery === 7
  const which = isRare ? number : (Math.imul(number, 0x9e3779b1) >>> 0) % texts
  const kept = textsOfEpoch.get(keyring)
  const { said } = kept?.epoch === epoch ? kept : { said: new Map<number, MessageText>() }
  if (kept?.epoch !== epoch) textsOfEpoch.set(keyring, { epoch, said })
  const known = isRare ? undefined : said.get(which)
  if (known !== undefined) return known
  const text = chatText(which, texts)
  const made = { text, tokens: messageTokens(keyring, text, epoch) }
  if (!isRare) said.set(which, made)
  return made
}

function messageOf(conversation: Conversation, text: string, at: Date, isInbound: boolean): Message {
  return {
    id: newId(at),
    conversationId: conversation.id,
    connectionId: conversation.connectionId,
    direction: isInbound ? 'inbound' : 'outbound',
    kind: 'text',
    origin: 'live',
    text,
    referral: null,
    externalId: `wamid.${randomBytes(24).toString('hex')}`,
    status: 'delivered',
    errorCode: null,
    actor: isInbound ? null : { type: 'system', id: null },
    occurredAt: at,
    createdAt: at,
    settleBy: null,
  }
}

const fingerprint = Buffer.alloc(32, 7)

const sendRow = ({ workspaceId, keyId }: Tenant, messageId: string, conversation: string, at: Date) => ({
  workspace_id: workspaceId,
  sender_id: keyId,
  idempotency_key: `send-${messageId}`,
  fingerprint,
  conversation_id: conversation,
  message_id: messageId,
  answer_status: 202,
  created_at: at,
})
