import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, cursor, leadStatus, text, unpaged, uuid, visible } from '../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import * as schema from '../api/schema.ts'
import { described, strict } from '../api/schema.ts'
import { conversationStatuses } from '../conversation/conversation-state.ts'
import { urgencies } from '../conversation/owner.ts'
import { maxCounted } from '../read/count-views.ts'
import { maxKeyHeader } from '../send/send-schema.ts'
import { messageDetail } from './media-schema.ts'

const { channel, owner, status } = schema.conversationFields
const actor = described('TeamActor', 'Who did it.', {
  type: oneOf(['agent', 'user', 'token', 'form', 'system'] as const, { description: '`agent` is an API key.' }),
  id: nullable(uuid('Null for `system`.')),
})

export const author = described('Author', 'Who wrote it.', {
  type: oneOf(['customer', 'agent', 'user', 'token', 'app', 'system'] as const, {
    description: '`agent`: an API key. `app`: another app on the same number, or the phone itself.',
  }),
  id: nullable(uuid()),
  name: nullable(text(100, 'Of an agent, a member or a token.', { example: 'Sales agent' })),
})

const name = (description: string, example: string) => nullable(text(100, description, { example }))

export const namedActor = described('NamedActor', 'Who did it.', {
  ...actor.properties,
  name: name('What it is called.', 'Ana Lima'),
})

export const urgency = oneOf(urgencies, {
  title: 'Urgency',
  description: 'How soon somebody is needed.',
  example: 'normal',
})

const OpenHandover = described(
  'OpenHandover',
  'What an agent handed it to people with, until one of them has written.',
  {
    id: idSchema('The hand-over, in the timeline.'),
    urgency,
    reason: nullable(text(200, 'The first 200 characters of why.', { example: 'Refunds need a person.' })),
    at: timestamp('When it was handed over.'),
  },
)

export const TeamContact = described('TeamContact', 'The customer.', {
  name: nullable(text(511, 'The name of their lead; without one as they call themselves.', { example: 'Ana Lima' })),
  phone: nullable(text(20, 'Digits with country code; null while they hide it.', { example: '5581991234567' })),
})

export const TeamConversation = titled('TeamConversation', {
  id: idSchema('The conversation.'),
  connectionId: idSchema('The chat connection.'),
  connectionName: name('Its name.', 'Sales'),
  channel,
  owner,
  ownerName: name('The name of the owning agent; null when people own it.', 'Sales agent'),
  ownerSince: timestamp('Since when it has this owner.'),
  held: Type.Boolean({
    description: 'People have it: agents leave it alone until it is handed to one of them or offered to all.',
    example: false,
  }),
  handover: nullable(OpenHandover),
  status,
  snoozedUntil: nullable(timestamp('When a timer opens it again.')),
  assignedTo: nullable(idSchema('The member it is assigned to.')),
  assignedToName: name('Who that is.', 'Ana Lima'),
  labelIds: Type.Array(uuid(), unpaged),
  unreadCount: count('Customer messages since it was last marked read.', { example: 1 }),
  optedOutAt: nullable(timestamp('When the customer opted out of marketing messages; null: they have not.')),
  windowExpiresAt: nullable(timestamp('Until when text can be sent; null when the window is closed.')),
  lastMessageAt: timestamp('When its newest message was sent.'),
  unansweredSince: nullable(
    timestamp('When the oldest customer message came that nobody has answered; null when answered.'),
  ),
  lastMessage: nullable(
    Type.Object({
      id: idSchema('The newest message, but for reactions sent from here.'),
      direction: schema.messageFields.direction,
      kind: text(20, 'As in the messages.', { example: 'text' }),
      text: text(200, 'Its first 200 characters.', { example: 'Hello!' }),
      status: schema.messageFields.status,
      errorCode: schema.messageFields.error_code,
      author,
    }),
  ),
  contact: TeamContact,
  profileName: nullable(text(255, 'As the customer calls themselves.', { example: 'Ana' })),
  leadId: nullable(idSchema('The lead with their phone, the oldest of several.')),
  createdAt: timestamp('When it began.'),
  updatedAt: timestamp('When it last changed.'),
})

export const TeamLead = described('TeamLead', 'The lead with the phone of the customer; the oldest of several.', {
  id: idSchema('The lead.'),
  uniqueCode: text(255, 'Its short code.', { example: 'L7K3M9QXA20B' }),
  name: text(511, 'First and last name.', { example: 'Marina Duarte' }),
  status: leadStatus('Of the lead.', { example: 'new' }),
  assignedTo: nullable(idSchema('The member who handles the lead.')),
})

const { direction, kind, status: messageStatus, error_code, occurred_at, referral } = schema.messageFields

export const TeamMessage = titled('TeamMessage', {
  id: idSchema('The message.'),
  direction,
  kind,
  origin: oneOf(['live', 'echo', 'history'] as const, {
    description: '`echo`: another app or the phone sent it. `history`: told of afterwards.',
  }),
  text: schema.messageFields.text,
  status: messageStatus,
  errorCode: error_code,
  actor: nullable(actor),
  author,
  occurredAt: occurred_at,
  referral,
  ...messageDetail,
})

const maxNoteLength = 4096
/** Of what is said with a hand-over, in characters. */
export const [maxSummary, maxReason] = [4000, 1200]

export const TeamNote = titled('TeamNote', {
  id: idSchema('The note.'),
  text: text(maxNoteLength, 'For the team and its agents only.', { example: 'Asked for a quote of 20 units.' }),
  mentions: Type.Array(uuid(), { maxItems: 20, description: 'Members who are to see it.', example: [] }),
  actor: namedActor,
  createdAt: timestamp('When it was added.'),
})

export const TeamConversationParams = Type.Object({ ...workspaceParams, id: idSchema('The conversation.') })

export const TeamListQuery = strict({
  connectionId: Type.Optional(idSchema('Only this connection.')),
  phone: Type.Optional(schema.ListQuery.properties.phone),
  owner: Type.Optional(schema.ListQuery.properties.owner),
  view: Type.Optional(
    oneOf(['mine', 'unassigned', 'all', 'agents'] as const, {
      description:
        '`mine`: assigned to the caller. `unassigned`: owned by people, assigned to nobody. `agents`: owned by agents.',
    }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: visible,
      description:
        'What the row of a conversation says of its customer: words or parts of words of the name, any three digits or more of the number, or the number in any common spelling. Also what finds a lead of theirs: the newest 50 leads that it finds are looked for.',
      example: 'duarte',
    }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^[a-z,]{1,60}$',
      maxLength: 60,
      description: 'One status, or several with commas.',
      example: 'open',
    }),
  ),
  assignedTo: Type.Optional(
    Type.String({
      pattern: '^(?:me|none|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
      maxLength: 36,
      description: 'Only what is assigned to this member; `me`, or `none` for what is assigned to nobody.',
      example: 'me',
    }),
  ),
  labelId: Type.Optional(idSchema('Only what carries this label.')),
  unread: Type.Optional(Type.Boolean({ description: 'Only what has unread messages.' })),
  unanswered: Type.Optional(Type.Boolean({ description: 'Only where a customer waits for an answer.' })),
  updatedAfter: Type.Optional(timestamp('Only what was updated after it.')),
  sort: Type.Optional(
    oneOf(['recent', 'waiting', 'updated'] as const, {
      description:
        '`recent`: newest message first. `waiting`: only where a customer waits, the longest first. `updated`: changed last first.',
      default: 'recent',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
  cursor: Type.Optional(cursor('From the page before.')),
})
export type TeamListQuery = Static<typeof TeamListQuery>

const note = Type.String({
  minLength: 1,
  pattern: visible,
  maxLength: maxNoteLength,
  description: 'For the team and its agents only.',
})

export const statusToSet = oneOf(conversationStatuses, {
  title: 'ConversationStatus',
  description: 'Leaving `snoozed` clears its time.',
  example: 'snoozed',
})

export const TeamChanges = Type.Partial(
  Type.Object({
    status: statusToSet,
    snoozedUntil: nullable(
      timestamp('With the status `snoozed`: when a timer opens it. Null: when the customer writes.'),
    ),
    assignedTo: nullable(idSchema('A member of the workspace; null for nobody.')),
    labelIds: Type.Array(uuid(), { maxItems: 20, description: 'Replaces the labels.' }),
  }),
  { ...closed, minProperties: 1, example: { status: 'resolved' } },
)
export type TeamChanges = Static<typeof TeamChanges>

const words = Type.Object(
  {
    summary: Type.String({ minLength: 1, maxLength: maxSummary, pattern: visible, description: 'What has happened.' }),
    reason: Type.Optional(Type.String({ maxLength: maxReason, description: 'Why an agent goes on.' })),
    nextStep: Type.Optional(Type.String({ maxLength: maxReason, description: 'What it should do.' })),
  },
  { ...closed, title: 'HandoverNote', description: 'What an agent that goes on has to know.' },
)
export type HandoverNoteBody = Static<typeof words>

export const Offer = Type.Object(
  { note: Type.Optional(words) },
  { ...closed, example: { note: { summary: 'Price agreed.', nextStep: 'Ask for the address.' } } },
)

export const HandBack = Type.Object(
  {
    keyId: idSchema('The API key of the agent that goes on.'),
    note: Type.Optional(words),
  },
  {
    ...closed,
    example: {
      keyId: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
      note: { summary: 'Price agreed.', nextStep: 'Ask for the address.' },
    },
  },
)
export type HandBack = Static<typeof HandBack>

export const NewNote = strict({
  text: note,
  mentions: Type.Optional(
    Type.Array(uuid(), {
      maxItems: 20,
      description: 'Members who are to see it: it stands among their mentions.',
      example: [],
    }),
  ),
})

export const NoteHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      maxLength: maxKeyHeader,
      description: 'A value of its own for each note, 1–255 printable ASCII characters: a repeat adds nothing.',
      example: 'note-A-17',
    }),
  ),
})

const ofView = titled('ViewCount', {
  open: count(`Its open conversations; ${maxCounted} stands for so many or more.`, {
    example: 12,
    maximum: maxCounted,
  }),
  unread: count(`Those of them with unread messages; ${maxCounted} stands for so many or more.`, {
    example: 3,
    maximum: maxCounted,
  }),
})

export const TeamCounts = described('TeamCounts', 'By view, as in the list.', {
  mine: ofView,
  unassigned: ofView,
  all: ofView,
  agents: ofView,
})
