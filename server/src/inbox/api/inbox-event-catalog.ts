import { Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { threadOwners } from '../../channels/channel-event.ts'
import { consentDecisions, consentPurposes, consentSources } from '../../consents/consent.ts'
import type { EventDefinition } from '../../events/feed.ts'
import { systemActor } from '../../workspaces/actor.ts'
import {
  consentChanged,
  type DecidedDraft,
  draftDecided,
  draftOutcomes,
  draftProposed,
  type InboxEventName,
  messageReceived,
  messageSent,
  messageStatusChanged,
  ownerChanged,
  scheduledFailed,
  standbyChanged,
} from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { newConversation } from '../conversation/customer.ts'
import { type Message, newMessage } from '../conversation/message.ts'
import { agent, human } from '../conversation/owner.ts'
import { approvalReasons } from '../drafts/approval-rules.ts'
import { maskDraftDecided, maskMessageReceived } from './masking.ts'
import { conversationFields, described, messageFields } from './schema.ts'

const { id, connection_id, channel, owner, status, window_expires_at, contact } = conversationFields
const conversationRef = { id, connection_id, channel, owner }
const { external_id, kind, text, media, occurred_at, referral, error_code } = messageFields

export const eventActor = described(
  'EventActor',
  'Who caused the event. An agent compares `id` with its own key id to skip its own actions.',
  { type: Type.String({ maxLength: 20, example: 'agent' }), id: nullable(uuid()) },
)

const MessageReceived = described('MessageReceivedEvent', '`inbox.message.received`: a customer message arrived.', {
  conversation: Type.Object({ ...conversationRef, status, window_expires_at }),
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
})

const MessageSent = described(
  'MessageSentEvent',
  '`inbox.message.sent`: a message was sent (also by the receiving key) or recorded as an echo.',
  {
    conversation: Type.Object(conversationRef),
    message: Type.Object({ id: messageFields.id, kind, text, status: messageFields.status, occurred_at }),
    actor: Type.Unsafe<object | null>({ anyOf: [eventActor, { type: 'null' }], description: 'Null for echoes.' }),
  },
)

const at = timestamp('Time of the change.')

const MessageStatus = described(
  'MessageStatusEvent',
  '`inbox.message.status`: the status of a message advanced, or the message failed.',
  {
    conversation_id: id,
    message_id: messageFields.id,
    status: messageFields.status,
    error_code,
    at,
  },
)

const OwnerChanged = described(
  'OwnerChangedEvent',
  '`inbox.conversation.owner_changed`: the conversation has a new owner.',
  {
    conversation_id: id,
    owner,
    actor: eventActor,
    at,
    handover_id: Type.Optional(uuid('The handover with its note; present only if one was written.')),
  },
)

const draftId = uuid('The draft.')
const draftKey = uuid('Key of the agent that proposed it.')

const ConsentChanged = described(
  'ConsentChangedEvent',
  '`inbox.conversation.consent_changed`: the customer opted out of messages with a purpose, or in again.',
  {
    conversation_id: id,
    purpose: oneOf(consentPurposes, {
      description: 'What the decision is about: marketing, or templates of the category utility.',
    }),
    decision: nullable(
      oneOf(consentDecisions, { description: 'The current decision; null: none, the last was undone.' }),
    ),
    source: nullable(oneOf(consentSources, { description: 'Where it was decided.' })),
    actor: eventActor,
    at,
  },
)

const StandbyChanged = described(
  'StandbyChangedEvent',
  '`inbox.conversation.standby_changed`: another app on the number answers the customer from now on, or no longer does.',
  {
    conversation_id: id,
    standby: Type.Boolean({
      description: 'Whether another app on the number has the conversation: agents leave it alone.',
    }),
    thread_owner: nullable(
      oneOf(threadOwners, {
        description: 'Role of that app at the platform, such as its AI agent; `other_app` if the platform did not say.',
      }),
    ),
    at,
  },
)

const DraftProposed = described(
  'DraftProposedEvent',
  '`inbox.draft.proposed`: an agent proposed an answer that a person must approve.',
  {
    conversation_id: id,
    draft_id: draftId,
    key_id: draftKey,
    why: oneOf(approvalReasons, { description: 'The rule of the key by which it needs approval.' }),
    at,
  },
)

const DraftDecided = described(
  'DraftDecidedEvent',
  '`inbox.draft.decided`: a person sent an agent’s draft, as it was or edited, or rejected it.',
  {
    conversation_id: id,
    draft_id: draftId,
    key_id: draftKey,
    outcome: oneOf(draftOutcomes, { description: 'What the person did.' }),
    message_id: nullable(uuid('The message that it became; null: rejected.')),
    text: nullable(text),
    reason: nullable(Type.String({ maxLength: 1000, description: 'Why it was rejected; null: no reason was given.' })),
    actor: eventActor,
    at,
  },
)

const ScheduledFailed = described(
  'ScheduledMessageFailedEvent',
  '`inbox.scheduled_message.failed`: a scheduled message of an agent was not sent when it was due.',
  {
    conversation_id: id,
    scheduled_message_id: uuid('The scheduled message.'),
    key_id: uuid('The agent’s key.'),
    status: oneOf(['held', 'failed'] as const, {
      description: '`held`: nothing was sent, and it can be scheduled again. `failed`: it was not delivered.',
    }),
    error_code: Type.String({ maxLength: 100, description: 'Why.', example: 'WINDOW_CLOSED' }),
    due_at: timestamp('When it was due.'),
    at,
  },
)

/** Returns the payload unchanged: it contains neither a phone nor a platform id, which contains the phone. */
export const withoutMasking: EventDefinition['mask'] = (payload) => payload

/** Documentation, schema, sample and masking of each inbox event. */
export const inboxEvents: Record<InboxEventName, EventDefinition> = {
  'inbox.message.received': {
    guide: 'A customer sent a message. The body contains the conversation, the contact and the message.',
    schema: MessageReceived,
    sample: (id, at) => messageReceived(sampleConversation(id, at), customerMessage(id, at), at),
    mask: maskMessageReceived,
  },
  'inbox.message.sent': {
    guide: 'A message was sent by an agent, by a member, or from the phone of the connection.',
    schema: MessageSent,
    sample: (id, at) => messageSent(sampleConversation(id, at), answer(id, at)),
    mask: withoutMasking,
  },
  'inbox.message.status': {
    guide: 'A sent message changed its status to `sent`, `delivered`, `read` or `failed`.',
    schema: MessageStatus,
    sample: (id, at) =>
      messageStatusChanged(sampleConversation(id, at), messageId, { status: 'delivered', errorCode: null }, at),
    mask: withoutMasking,
  },
  'inbox.conversation.owner_changed': {
    guide: 'A conversation changed its owner, between people and agents.',
    schema: OwnerChanged,
    sample: (id, at) => ownerChanged({ ...sampleConversation(id, at), owner: human }, { type: 'user', id: userId }, at),
    mask: withoutMasking,
  },
  'inbox.conversation.consent_changed': {
    guide: 'A customer opted out of marketing or of other templates, or in again.',
    schema: ConsentChanged,
    sample: (id, at) =>
      consentChanged(
        sampleConversation(id, at),
        'marketing',
        { decision: 'opted_out', source: 'keyword' },
        systemActor,
        at,
      ),
    mask: withoutMasking,
  },
  'inbox.conversation.standby_changed': {
    guide: 'A customer is answered by another app on the number from now on, or no longer is.',
    schema: StandbyChanged,
    sample: (id, at) => standbyChanged({ ...sampleConversation(id, at), thread: { owner: 'ai_agent', at } }, at),
    mask: withoutMasking,
  },
  'inbox.draft.proposed': {
    guide: 'A draft of an agent waits for a person to approve it.',
    schema: DraftProposed,
    sample: (id, at) =>
      draftProposed(sampleConversation(id, at), { id: messageId, keyId, why: 'always', createdAt: at }),
    mask: withoutMasking,
  },
  'inbox.draft.decided': {
    guide: 'A draft of an agent was sent by a person, as it was or edited, or rejected.',
    schema: DraftDecided,
    sample: (id, at) => draftDecided(sampleConversation(id, at), sampleDecision, { type: 'user', id: userId }, at),
    mask: maskDraftDecided,
  },
  'inbox.scheduled_message.failed': {
    guide: 'A scheduled message of an agent was not sent. The body says why.',
    schema: ScheduledFailed,
    sample: (id, at) =>
      scheduledFailed(
        sampleConversation(id, at),
        { id: messageId, keyId, status: 'held', code: 'WINDOW_CLOSED', dueAt: at },
        at,
      ),
    mask: withoutMasking,
  },
}

export const connectionId = '01985e2a-0000-7000-8000-000000000001'
const messageId = '01985e2a-0000-7000-8000-000000000002'
const keyId = '01985e2a-0000-7000-8000-000000000003'
export const userId = '01985e2a-0000-7000-8000-000000000004'
const dayMs = 86_400_000
const sampleDecision: DecidedDraft = {
  ...{ id: messageId, keyId, messageId, text: 'Yes, until noon.', reason: null },
  status: 'edited',
}

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
