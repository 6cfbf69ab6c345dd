import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, cursor, leadStatus, text, unpaged, uuid, visiblePattern } from '../../base/schema-types.ts'
import { threadOwners } from '../../channels/channel-event.ts'
import { consentDecisions, consentSources } from '../../consents/consent.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { priorities } from '../../workspaces/service/service-settings.ts'
import * as schema from '../api/schema.ts'
import { described, strict } from '../api/schema.ts'
import { conversationStatuses, goals } from '../conversation/conversation-state.ts'
import { urgencies } from '../conversation/owner.ts'
import { maxCounted } from '../read/count-views.ts'
import { maxKeyHeader } from '../send/send-schema.ts'
import { messageDetail } from './media-schema.ts'

const { channel, owner, status } = schema.conversationFields
const actor = described('TeamActor', 'Who made the change.', {
  type: oneOf(['agent', 'user', 'token', 'form', 'system'] as const, { description: '`agent` is an API key.' }),
  id: nullable(uuid('Null for `system`.')),
})

export const author = described('Author', 'Author of the message.', {
  type: oneOf(['customer', 'agent', 'user', 'token', 'app', 'system'] as const, {
    description: '`agent`: an API key. `app`: another app on the same number, or the phone itself.',
  }),
  id: nullable(uuid()),
  name: nullable(text(100, 'Name of the agent, member or token.', { example: 'Sales agent' })),
})

const name = (description: string, example: string) => nullable(text(100, description, { example }))

export const namedActor = described('NamedActor', 'Who made the change, with the name.', {
  ...actor.properties,
  name: name('Name of the actor.', 'Ana Lima'),
})

export const urgency = oneOf(urgencies, {
  title: 'Urgency',
  description: 'How urgently someone is needed.',
  example: 'normal',
})

const OpenHandover = described('OpenHandover', 'An agent’s handover to people, until one of them has written.', {
  id: idSchema('Id of the handover in the timeline.'),
  urgency,
  reason: nullable(text(200, 'First 200 characters of the reason.', { example: 'Refunds need a person.' })),
  at: timestamp('Time of the handover.'),
})

export const TeamContact = described('TeamContact', 'Customer.', {
  name: nullable(text(511, 'Name of their lead, else of their profile.', { example: 'Ana Lima' })),
  phone: nullable(
    text(20, 'Digits with country code; null while the customer hides it.', { example: '5581991234567' }),
  ),
})

export const MarketingConsent = Type.Object(
  {
    decision: oneOf(consentDecisions, { description: 'The current decision.' }),
    source: oneOf(consentSources, {
      description:
        'Where it was made: `platform` in the settings on the platform, `platform_error` shown by a refused message, `keyword` by a message, `form`, `member` recorded by the team, `agent` by an API key.',
    }),
    at: timestamp('When it was recorded here.'),
  },
  { title: 'MarketingConsent', description: 'What the customer has decided about marketing messages; null: nothing.' },
)

export const TeamConversation = titled('TeamConversation', {
  id: idSchema('Conversation id.'),
  connectionId: idSchema('Chat connection id.'),
  connectionName: name('Name of the connection.', 'Sales'),
  channel,
  owner,
  ownerName: name('Name of the owning agent; null if people own it.', 'Sales agent'),
  ownerSince: timestamp('Time since which it has this owner.'),
  held: Type.Boolean({
    description: 'Locked to people: agents leave it alone until it is handed to one of them or offered to all.',
    example: false,
  }),
  handover: nullable(OpenHandover),
  standbyFor: nullable(
    oneOf(threadOwners, {
      description:
        'Role of another app on the number that answers this customer at the platform: agents leave it alone until the platform gives it back, the customer writes to us or a person answers. Null: nobody else.',
    }),
  ),
  status,
  snoozedUntil: nullable(timestamp('When a timer reopens it.')),
  assignedTo: nullable(idSchema('Assigned member.')),
  assignedToName: name('Name of the assignee.', 'Ana Lima'),
  teamId: nullable(idSchema('Team that answers it; null for all people.')),
  teamName: name('Name of the team.', 'Sales'),
  labelIds: Type.Array(uuid(), unpaged),
  priority: nullable(oneOf(priorities, { description: 'Set by people and programs; null: none.', example: 'high' })),
  goal: nullable(
    described('ConversationGoal', 'The service-level goal that matters most: one that was missed, else the next.', {
      goal: oneOf(goals, {
        description:
          '`first_answer` of the case, `next_answer`, or `resolution`: that the conversation is resolved or closed.',
      }),
      dueAt: timestamp('When it is missed: its minutes count only during business hours.'),
      warnAt: timestamp('When four fifths of its time have passed.'),
      isMissed: Type.Boolean({ description: 'Whether it was recorded as missed, shortly after it was due.' }),
    }),
  ),
  unreadCount: count('Customer messages since the conversation was last marked read.', { example: 1 }),
  optedOutAt: nullable(timestamp('When the customer opted out of marketing messages; null if they have not.')),
  marketingConsent: nullable(MarketingConsent),
  utilityConsent: Type.Union([MarketingConsent, Type.Null()], {
    description: 'What the team has recorded about templates of the category utility; null: nothing.',
  }),
  windowExpiresAt: nullable(timestamp('End of the window in which text can be sent; null if closed.')),
  lastMessageAt: timestamp('Time of the newest message.'),
  unansweredSince: nullable(timestamp('Arrival of the oldest unanswered customer message; null if answered.')),
  lastMessage: nullable(
    Type.Object({
      id: idSchema('Newest message, except reactions sent through this service.'),
      direction: schema.messageFields.direction,
      kind: text(20, 'Same as in messages.', { example: 'text' }),
      text: text(200, 'First 200 characters.', { example: 'Hello!' }),
      status: schema.messageFields.status,
      errorCode: schema.messageFields.error_code,
      author,
    }),
  ),
  contact: TeamContact,
  profileName: nullable(text(255, 'Name of the customer’s profile.', { example: 'Ana' })),
  leadId: nullable(idSchema('Lead with the customer’s phone, the oldest of several.')),
  createdAt: timestamp('Time of creation.'),
  updatedAt: timestamp('Time of the last change.'),
})

export const TeamLead = described('TeamLead', 'Lead with the customer’s phone; the oldest of several.', {
  id: idSchema('Lead id.'),
  uniqueCode: text(255, 'Short code of the lead.', { example: 'L7K3M9QXA20B' }),
  name: text(511, 'First and last name.', { example: 'Marina Duarte' }),
  status: leadStatus('Status of the lead.', { example: 'new' }),
  assignedTo: nullable(idSchema('Member assigned to the lead.')),
})

const { direction, kind, status: messageStatus, error_code, occurred_at, referral } = schema.messageFields

export const TeamMessage = titled('TeamMessage', {
  id: idSchema('Message id.'),
  direction,
  kind,
  origin: oneOf(['live', 'echo', 'history'] as const, {
    description: '`echo`: sent by another app or the phone. `history`: imported later.',
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
/** Maximum lengths of the texts of a handover, in characters. */
export const [maxSummary, maxReason] = [4000, 1200]

export const TeamNote = titled('TeamNote', {
  id: idSchema('Note id.'),
  text: text(maxNoteLength, 'Visible only to the team and its agents.', { example: 'Asked for a quote of 20 units.' }),
  mentions: Type.Array(uuid(), { maxItems: 20, description: 'Mentioned members.', example: [] }),
  actor: namedActor,
  createdAt: timestamp('Time of creation.'),
})

export const TeamConversationParams = Type.Object({ ...workspaceParams, id: idSchema('Conversation id.') })

export const TeamListQuery = strict({
  connectionId: Type.Optional(idSchema('Only conversations of this connection.')),
  phone: Type.Optional(schema.ListQuery.properties.phone),
  owner: Type.Optional(schema.ListQuery.properties.owner),
  view: Type.Optional(
    oneOf(['mine', 'unassigned', 'all', 'agents'] as const, {
      description:
        '`mine`: assigned to the caller. `unassigned`: owned by people without an assignee. `agents`: owned by agents.',
    }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: visiblePattern,
      description:
        'Searches customers by words or parts of words of the name, by three or more digits of the number, or by the number in any common spelling. Also finds conversations of the newest 50 leads that match.',
      example: 'duarte',
    }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^[a-z,]{1,60}$',
      maxLength: 60,
      description: 'One or more statuses, separated by commas.',
      example: 'open',
    }),
  ),
  assignedTo: Type.Optional(
    Type.String({
      pattern: '^(?:me|none|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
      maxLength: 36,
      description: 'Only conversations assigned to this member; `me` for the caller, `none` for unassigned ones.',
      example: 'me',
    }),
  ),
  teamId: Type.Optional(
    Type.String({
      pattern: '^(?:none|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
      maxLength: 36,
      description: 'Only conversations of this team; `none` for those of no team.',
      example: 'none',
    }),
  ),
  labelId: Type.Optional(idSchema('Only conversations with this label.')),
  unread: Type.Optional(Type.Boolean({ description: 'Only conversations with unread messages.' })),
  unanswered: Type.Optional(Type.Boolean({ description: 'Only conversations whose customer waits for an answer.' })),
  priority: Type.Optional(
    oneOf(priorities, { description: 'Only conversations with this priority.', example: 'urgent' }),
  ),
  overdue: Type.Optional(
    Type.Boolean({
      description: 'Only conversations with a service-level goal that was missed and is still to be reached.',
    }),
  ),
  updatedAfter: Type.Optional(timestamp('Only conversations updated after this time.')),
  sort: Type.Optional(
    oneOf(['recent', 'waiting', 'updated', 'due', 'priority'] as const, {
      description:
        '`recent`: newest message first. `waiting`: only waiting customers, longest first. `updated`: last changed first. `due`: only with a goal that is not missed yet, the next one first. `priority`: only with a priority, the highest first.',
      default: 'recent',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
  cursor: Type.Optional(cursor('Cursor from the previous page.')),
})
export type TeamListQuery = Static<typeof TeamListQuery>

const note = Type.String({
  minLength: 1,
  pattern: visiblePattern,
  maxLength: maxNoteLength,
  description: 'Visible only to the team and its agents.',
})

export const statusToSet = oneOf(conversationStatuses, {
  title: 'ConversationStatus',
  description: 'Any status other than `snoozed` clears the snooze time.',
  example: 'snoozed',
})

export const TeamChanges = Type.Partial(
  Type.Object({
    status: statusToSet,
    snoozedUntil: nullable(
      timestamp('With status `snoozed`: when a timer reopens it. Null: only when the customer writes.'),
    ),
    assignedTo: nullable(idSchema('Member of the workspace; null to unassign.')),
    teamId: nullable(
      idSchema(
        'Team of the workspace; null for none. Without `assignedTo`, an assignee who is not of the team loses it, and the team’s rule decides who gets it.',
      ),
    ),
    labelIds: Type.Array(uuid(), { maxItems: 20, description: 'Replaces the labels.' }),
    priority: nullable(oneOf(priorities, { description: 'Null: none.', example: 'high' })),
  }),
  { ...closed, minProperties: 1, example: { status: 'resolved' } },
)
export type TeamChanges = Static<typeof TeamChanges>

const HandoverNoteSchema = Type.Object(
  {
    summary: Type.String({
      minLength: 1,
      maxLength: maxSummary,
      pattern: visiblePattern,
      description: 'What has happened so far.',
    }),
    reason: Type.Optional(
      Type.String({ maxLength: maxReason, description: 'Why the conversation is handed to an agent.' }),
    ),
    nextStep: Type.Optional(Type.String({ maxLength: maxReason, description: 'What the agent should do next.' })),
  },
  { ...closed, title: 'HandoverNote', description: 'What the next agent needs to know.' },
)
export type HandoverNoteBody = Static<typeof HandoverNoteSchema>

export const Offer = Type.Object(
  { note: Type.Optional(HandoverNoteSchema) },
  { ...closed, example: { note: { summary: 'Price agreed.', nextStep: 'Ask for the address.' } } },
)

export const HandBack = Type.Object(
  {
    keyId: idSchema('API key of the new owner.'),
    note: Type.Optional(HandoverNoteSchema),
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
      description: 'Members to mention; they are notified.',
      example: [],
    }),
  ),
})

export const NoteHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      maxLength: maxKeyHeader,
      description: 'Unique value per note: 1–255 printable ASCII characters. A repeat adds nothing.',
      example: 'note-A-17',
    }),
  ),
})

const ViewCount = titled('ViewCount', {
  open: count(`Open conversations; ${maxCounted} means that many or more.`, {
    example: 12,
    maximum: maxCounted,
  }),
  unread: count(`Open conversations with unread messages; ${maxCounted} means that many or more.`, {
    example: 3,
    maximum: maxCounted,
  }),
})

export const TeamCounts = described('TeamCounts', 'Counts by view of the list.', {
  mine: ViewCount,
  unassigned: ViewCount,
  all: ViewCount,
  agents: ViewCount,
})
