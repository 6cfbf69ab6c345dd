import { Type } from 'typebox'
import { nullable, timestamp } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import type { EventDefinition } from '../../events/feed.ts'
import {
  type InboxEventName,
  messageReceived,
  messageSent,
  messageStatusChanged,
  ownerChanged,
} from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { newConversation } from '../conversation/customer.ts'
import { type Message, newMessage } from '../conversation/message.ts'
import { agent, human } from '../conversation/owner.ts'
import { maskMessageReceived } from './masking.ts'
import { conversationFields, described, messageFields } from './schema.ts'

const { id, connection_id, channel, owner, status, window_expires_at, contact } = conversationFields
const about = { id, connection_id, channel, owner }
const { external_id, kind, text, media, occurred_at, referral, error_code } = messageFields

const actor = described(
  'EventActor',
  'Who did it. An agent compares `id` with its own key id to skip what it did itself.',
  { type: Type.String({ maxLength: 20, example: 'agent' }), id: nullable(uuid()) },
)

const MessageReceived = described(
  'MessageReceivedEvent',
  '`inbox.message.received`: a message of the customer has arrived.',
  {
    conversation: Type.Object({ ...about, status, window_expires_at }),
    contact,
    message: Type.Object({
      id: messageFields.id,
      external_id: nullable(external_id),
      kind,
      text,
      media,
      occurred_at,
    }),
    referral,
  },
)

const MessageSent = described(
  'MessageSentEvent',
  "`inbox.message.sent`: a message has gone out, also the reader's own, or was echoed.",
  {
    conversation: Type.Object(about),
    message: Type.Object({ id: messageFields.id, kind, text, status: messageFields.status, occurred_at }),
    actor: Type.Unsafe<object | null>({ anyOf: [actor, { type: 'null' }], description: 'Null for echoes.' }),
  },
)

const at = timestamp('When it happened.')

const MessageStatus = described('MessageStatusEvent', '`inbox.message.status`: a message has climbed, or failed.', {
  conversation_id: id,
  message_id: messageFields.id,
  status: messageFields.status,
  error_code,
  at,
})

const OwnerChanged = described('OwnerChangedEvent', '`inbox.conversation.owner_changed`: somebody else may send now.', {
  conversation_id: id,
  owner,
  actor,
  at,
  handover_id: Type.Optional(uuid('The hand-over that says why; only there when somebody wrote one.')),
})

/** For bodies that hold no phone, nor an id of the platform that does. */
const withoutMasking: EventDefinition['mask'] = (payload) => payload

/** The events of the inbox, each with all that is said of it. */
export const inboxEvents: Record<InboxEventName, EventDefinition> = {
  'inbox.message.received': {
    guide: 'A customer wrote. The body has the conversation, the contact and the message.',
    schema: MessageReceived,
    sample: (id, at) => messageReceived(sampleConversation(id, at), customerMessage(id, at), at),
    mask: maskMessageReceived,
  },
  'inbox.message.sent': {
    guide: 'A message went out: by an agent, a member, or on the phone of the number itself.',
    schema: MessageSent,
    sample: (id, at) => messageSent(sampleConversation(id, at), answer(id, at)),
    mask: withoutMasking,
  },
  'inbox.message.status': {
    guide: 'A message that was sent got further: `sent`, `delivered`, `read` or `failed`.',
    schema: MessageStatus,
    sample: (id, at) =>
      messageStatusChanged(sampleConversation(id, at), messageId, { status: 'delivered', errorCode: null }, at),
    mask: withoutMasking,
  },
  'inbox.conversation.owner_changed': {
    guide: 'A conversation changed hands between people and agents.',
    schema: OwnerChanged,
    sample: (id, at) => ownerChanged({ ...sampleConversation(id, at), owner: human }, { type: 'user', id: userId }, at),
    mask: withoutMasking,
  },
}

const connectionId = '01985e2a-0000-7000-8000-000000000001'
const messageId = '01985e2a-0000-7000-8000-000000000002'
const keyId = '01985e2a-0000-7000-8000-000000000003'
const userId = '01985e2a-0000-7000-8000-000000000004'
const dayMs = 86_400_000

function sampleConversation(id: string, at: Date): Conversation {
  const customer = { name: 'Marina Sample', phone: '5511900000001', userId: null, parentUserId: null }
  return {
    ...newConversation({ id: connectionId, channel: 'waba' }, customer, 'customer', at, at),
    ...{ id, owner: agent(keyId), unreadCount: 1, unansweredSince: at },
    windowExpiresAt: new Date(at.getTime() + dayMs),
  }
}

const customerMessage = (conversationId: string, at: Date): Message =>
  newMessage({
    ...{ id: messageId, conversationId, connectionId, direction: 'inbound', kind: 'text', origin: 'live' },
    ...{ text: 'Do you deliver on Saturdays?', externalId: 'wamid.SAMPLE', status: 'delivered' },
    ...{ occurredAt: at, createdAt: at },
  })

function answer(conversationId: string, at: Date): Message {
  return {
    ...customerMessage(conversationId, at),
    direction: 'outbound',
    text: 'Yes, until noon.',
    status: 'sent',
    actor: { type: 'agent', id: keyId },
  }
}
