import type { Static } from 'typebox'
import type { AgentConversation } from './conversation.ts'
import type { AgentMessage } from './message.ts'
import type { AgentHandover } from './notes-and-handovers.ts'

/** Sample data of the tool examples. */

export const exampleIds = {
  conversation: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d01',
  connection: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d02',
  key: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d03',
  message: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d04',
  member: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d05',
  lead: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d06',
  label: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d07',
  article: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d10',
  upload: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d09',
  workspace: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d08',
}

export const exampleConversation: Static<typeof AgentConversation> = {
  id: exampleIds.conversation,
  connection_id: exampleIds.connection,
  connection_name: 'Shop',
  channel: 'waba',
  customer_name: 'Marina Duarte',
  customer_phone: '5581991234567',
  opted_out_of_marketing: false,
  marketing_consent: null,
  owner: 'you',
  owner_key_id: exampleIds.key,
  owner_name: 'Support agent',
  owner_since: '2026-03-01T11:58:00.000Z',
  stands_by: false,
  may_take: false,
  status: 'open',
  snoozed_until: null,
  assigned_to: null,
  labels: [],
  priority: null,
  waiting_since: '2026-03-01T12:00:00.000Z',
  window_expires_at: '2026-03-02T12:00:00.000Z',
  unread_count: 1,
  last_message_at: '2026-03-01T12:00:00.000Z',
  last_message: { kind: 'text', customer_text: 'Where is my order?' },
  handed_over: null,
}

export const exampleMessage: Static<typeof AgentMessage> = {
  id: exampleIds.message,
  from: 'customer',
  sent_at: '2026-03-01T12:00:00.000Z',
  kind: 'text',
  customer_text: 'Where is my order?',
}

export const exampleHandover: Static<typeof AgentHandover> = {
  at: '2026-03-01T12:05:00.000Z',
  by: 'people',
  by_name: 'Ana Lima',
  to: 'you',
  urgency: 'normal',
  summary: 'The refund for order 1042 is on its way.',
  reason: null,
  next_step: 'Tell her that it takes five days.',
}
