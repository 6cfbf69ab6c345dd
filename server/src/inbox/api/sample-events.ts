import type { NewEvent } from '../../events/record.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { messageReceived, messageSent, messageStatusChanged, ownerChanged } from '../conversation/events.ts'
import type { Message } from '../conversation/message.ts'
import { agent, human } from '../conversation/owner.ts'

type InboxEventName =
  | 'inbox.message.received'
  | 'inbox.message.sent'
  | 'inbox.message.status'
  | 'inbox.conversation.owner_changed'

const connectionId = '01985e2a-0000-7000-8000-000000000001'
const messageId = '01985e2a-0000-7000-8000-000000000002'
const keyId = '01985e2a-0000-7000-8000-000000000003'
const userId = '01985e2a-0000-7000-8000-000000000004'
const dayMs = 86_400_000

/** An event of an invented conversation, as a true one would be recorded: for tests of webhooks and their documentation. */
export function sampleInboxEvent(name: InboxEventName, id: string, at: Date): NewEvent {
  const conversation = sampleConversation(id, at)
  switch (name) {
    case 'inbox.message.received':
      return messageReceived(conversation, customerMessage(id, at), at)
    case 'inbox.message.sent':
      return messageSent(conversation, answer(id, at))
    case 'inbox.message.status':
      return messageStatusChanged(conversation, messageId, { status: 'delivered', errorCode: null }, at)
    case 'inbox.conversation.owner_changed':
      return ownerChanged({ ...conversation, owner: human }, { type: 'user', id: userId }, at)
  }
}

function sampleConversation(id: string, at: Date): Conversation {
  return {
    id,
    connectionId,
    channel: 'waba',
    contact: {
      name: 'Marina Sample',
      phone: '5511900000001',
      userId: null,
      parentUserId: null,
      address: { phone: '5511900000001', userId: null },
    },
    owner: agent(keyId),
    ownerEpoch: 1,
    ownerSince: at,
    status: 'open',
    snoozedUntil: null,
    assignedTo: null,
    labelIds: [],
    unreadCount: 1,
    windowExpiresAt: new Date(at.getTime() + dayMs),
    lastMessageAt: at,
    unansweredSince: at,
    lastMessage: null,
    createdAt: at,
    updatedAt: at,
  }
}

function customerMessage(conversationId: string, at: Date): Message {
  return {
    id: messageId,
    conversationId,
    connectionId,
    direction: 'inbound',
    kind: 'text',
    origin: 'live',
    text: 'Do you deliver on Saturdays?',
    referral: null,
    externalId: 'wamid.SAMPLE',
    status: 'delivered',
    errorCode: null,
    actor: null,
    occurredAt: at,
    createdAt: at,
    settleBy: null,
  }
}

function answer(conversationId: string, at: Date): Message {
  return {
    ...customerMessage(conversationId, at),
    direction: 'outbound',
    text: 'Yes, until noon.',
    status: 'sent',
    actor: { type: 'agent', id: keyId },
  }
}
