import { randomBytes } from 'node:crypto'
import { newId } from '../../server/src/base/id.ts'
import { fillRandom } from '../../server/src/base/random.ts'
import type { Keyring } from '../../server/src/base/sealing/keyring.ts'
import type { Conversation } from '../../server/src/inbox/conversation/conversation.ts'
import { messageReceived, messageSent } from '../../server/src/inbox/conversation/events.ts'
import { type Message, sealMessage } from '../../server/src/inbox/conversation/message.ts'
import { agent, human } from '../../server/src/inbox/conversation/owner.ts'
import { sealConversation } from '../../server/src/inbox/conversation/sealed.ts'
import { conversationTokens } from '../../server/src/inbox/search/conversation-lines.ts'
import { epochSize, messageTokens } from '../../server/src/inbox/search/message-tokens.ts'
import { customerPhone } from '../inbox-seed.ts'
import { chatText, rareEvery } from '../parts/message-search/chat-words.ts'
import { person } from '../people.ts'
import { eventRow } from './event-row.ts'
import type { Add } from './rows-of-leads.ts'
import {
  agesAt,
  beginOf,
  connectionOf,
  conversationAt,
  conversationId,
  type Job,
  messageEvents,
  messageTime,
  minutesOf,
  opens,
  positionAt,
  type Tenant,
} from './tenant.ts'

const statuses = ['open', 'open', 'open', 'open', 'pending', 'resolved', 'resolved', 'closed'] as const
/** Different texts: making the tokens of each message's own would take most of the time. */
const texts = 4_096
const openHours = 24

/** The n-th conversation of a tenant, the newest first. Every third is owned by people. */
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
    status: statuses[n % statuses.length] ?? 'open',
    snoozedUntil: null,
    assignedTo: null,
    labelIds: [],
    unreadCount: isWaiting ? 1 : 0,
    windowExpiresAt: new Date(at.getTime() + openHours * 3_600_000),
    lastMessageAt: at,
    unansweredSince: isWaiting ? at : null,
    lastMessage: { direction: 'inbound', kind: 'text', text: 'Hello, is the blue one still there?' },
    createdAt: beginOf(tenant, n),
    updatedAt: at,
  }
}

/** Conversations with the tokens of their customers, the oldest first. */
export function addConversations(tenant: Tenant, keyring: Keyring, { from, to }: Job, add: Add): void {
  const { workspaceId, conversations } = tenant
  for (let n = from; n < to; n++) {
    const conversation = conversationOf(tenant, conversations - 1 - n)
    add('conversations', { workspace_id: workspaceId, ...sealConversation(keyring, conversation) })
    add('conversation_search', {
      workspace_id: workspaceId,
      conversation_id: conversation.id,
      index_version: keyring.indexVersion,
      tokens: conversationTokens(keyring, conversation.contact),
    })
  }
}

/** Messages as they came, minute after minute, with their tokens; those sent with their part, those of late with events. */
export function addMessages(tenant: Tenant, keyring: Keyring, { from, to, before }: Job, add: Add): void {
  let number = before
  for (let minute = from; minute < to; minute++) {
    const minutesBack = minutesOf(tenant) - 1 - minute
    const { first, last } = agesAt(tenant, minutesBack)
    for (let age = first; age <= last; age++) addMessage(tenant, keyring, { minutesBack, age, number: number++ }, add)
  }
}

interface Place {
  minutesBack: number
  age: number
  /** Among all messages of the tenant. */
  number: number
}

function addMessage(tenant: Tenant, keyring: Keyring, { minutesBack, age, number }: Place, add: Add): void {
  const { workspaceId } = tenant
  const n = conversationAt(minutesBack, age)
  const at = messageTime(tenant, minutesBack, age)
  const { text, tokens } = textOf(keyring, number)
  const isInbound = age % 2 === 0
  const conversation = opens(tenant, n) ? conversationOf(tenant, n) : undefined
  const message = conversation && messageOf(conversation, text, at, isInbound)
  const row = message === undefined ? blindRow(tenant, n, at, isInbound) : sealMessage(keyring, message)
  add('messages', { workspace_id: workspaceId, ...row })
  if (tokens.length > 0) {
    const { indexVersion } = keyring
    const epoch = epochOf(number)
    add('message_search', { workspace_id: workspaceId, message_id: row.id, index_version: indexVersion, epoch, tokens })
  }
  const { id, connection_id, external_index } = row
  if (!isInbound) {
    const part = { message_id: id, part: 1, connection_id, external_index, status: 'delivered' }
    add('message_parts', { workspace_id: workspaceId, ...part })
  }
  const position = positionAt(tenant, at, age * messageEvents)
  if (position === null) return
  add('events', eventOf(tenant, keyring, { n, at, position, isInbound, conversation, message }))
  if (!isInbound) add('sends', sendRow(tenant, id, row.conversation_id, at))
}

interface Told {
  n: number
  at: Date
  position: number
  isInbound: boolean
  conversation: Conversation | undefined
  message: Message | undefined
}

function eventOf(tenant: Tenant, keyring: Keyring, told: Told) {
  const { n, at, position, isInbound, conversation, message } = told
  if (conversation !== undefined && message !== undefined) {
    const event = isInbound ? messageReceived(conversation, message, at) : messageSent(conversation, message)
    return eventRow(keyring, tenant.workspaceId, event, at, position)
  }
  return {
    workspace_id: tenant.workspaceId,
    id: newId(at),
    name: isInbound ? 'inbox.message.received' : 'inbox.message.sent',
    subject_id: conversationId(tenant, n),
    connection_id: connectionOf(tenant, n),
    payload: noise(isInbound ? 577 : 417),
    occurred_at: at,
    position,
  }
}

/** A message that nobody opens has bytes of the usual length in place of what it says. */
function blindRow(tenant: Tenant, n: number, at: Date, isInbound: boolean) {
  return {
    id: newId(at),
    conversation_id: conversationId(tenant, n),
    connection_id: connectionOf(tenant, n),
    direction: isInbound ? 'inbound' : 'outbound',
    kind: 'text',
    origin: 'live',
    content: noise(193),
    external_id: null,
    external_index: randomBytes16(),
    status: 'delivered',
    error_code: null,
    actor_type: isInbound ? null : 'system',
    actor_id: null,
    occurred_at: at,
    created_at: at,
    settle_by: null,
  }
}

const noiseBytes = 1024 * 1024
const noiseOfAll = randomBytes(noiseBytes)
let noiseAt = 0

function noise(length: number): Buffer {
  noiseAt = (noiseAt + 61) % (noiseBytes - length)
  return noiseOfAll.subarray(noiseAt, noiseAt + length)
}

function randomBytes16(): Buffer {
  const bytes = Buffer.allocUnsafe(16)
  fillRandom(bytes)
  return bytes
}

const epochOf = (number: number): number => Math.floor(number / epochSize)

interface Said {
  text: string
  tokens: readonly number[]
}

const saidInEpoch = new WeakMap<Keyring, { epoch: number; said: Map<number, Said> }>()

/** The text of a message, of so many different ones, and its tokens in its epoch. */
function textOf(keyring: Keyring, number: number): Said {
  const epoch = epochOf(number)
  const isRare = number % rareEvery === 7
  const which = isRare ? number : (Math.imul(number, 0x9e3779b1) >>> 0) % texts
  const kept = saidInEpoch.get(keyring)
  const { said } = kept?.epoch === epoch ? kept : { said: new Map<number, Said>() }
  if (kept?.epoch !== epoch) saidInEpoch.set(keyring, { epoch, said })
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
