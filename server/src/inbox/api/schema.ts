import { type Static, type TProperties, Type } from 'typebox'
import { errorResponse, errors, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, cursor, text, unpaged, uuid, visiblePattern } from '../../base/schema-types.ts'
import { channels } from '../../channels/connection/connection.ts'
import { idSchema } from '../../team/team-schema.ts'
import { conversationStatuses } from '../conversation/conversation-state.ts'
import { messageStatuses } from '../conversation/message.ts'

export const described = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, { title, description })

export const closed = { additionalProperties: false }

/** Returns an object schema that rejects unknown fields. */
export const strict = <P extends TProperties>(properties: P) => Type.Object(properties, closed)

export const strictTitled = <P extends TProperties>(title: string, properties: P) =>
  Type.Object(properties, { ...closed, title })

// `agent:` plus a UUID.
const ownerLength = 42
const owner = Type.String({
  maxLength: ownerLength,
  description: '`human` or `agent:<api_key_id>`. Only the owner may send.',
  example: 'agent:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
})
const status = oneOf(conversationStatuses, {
  title: 'ConversationStatus',
  description: 'A customer message sets it to `open`, whatever it was before.',
  example: 'open',
})
const channel = oneOf(channels, {
  title: 'Channel',
  description: '`waba`: official cloud API. `unofficial`: QR session. `partner`: connected partner number.',
  example: 'waba',
})

export const conversationFields = {
  id: idSchema('Conversation id. Never changes: a customer has one conversation per connection.'),
  connection_id: idSchema('Chat connection id.'),
  channel,
  owner,
  status,
  assigned_to_user_id: nullable(idSchema('Assigned member.')),
  label_ids: Type.Array(uuid(), { ...unpaged, description: 'Labels of the workspace.', example: [] }),
  unread_count: count('Customer messages since the conversation was last marked read.', { example: 1 }),
  window_expires_at: nullable(timestamp('End of the 24-hour window in which text can be sent; null if closed.')),
  snoozed_until: nullable(timestamp('When a timer reopens the conversation; null if only a customer message does.')),
  last_message_at: timestamp('Platform time of the newest message.'),
  updated_at: timestamp('Time of the last change.'),
  contact: titled('Contact', {
    name: nullable(text(255, 'Name from the platform.', { example: 'Marina Duarte' })),
    phone: nullable(
      Type.String({
        maxLength: 20,
        description:
          'Digits with country code; masked for keys that see phones masked; null while the customer hides it.',
        example: '5581991234567',
      }),
    ),
  }),
}

export const Conversation = Type.Object(conversationFields, { title: 'Conversation' })

// Texts from a platform can be as long as its callback may be.
const maxPlatformText = 3 * 1024 * 1024
const platformText = (description: string, example: string) => nullable(text(maxPlatformText, description, { example }))

const referral = nullable(
  described('AdReferral', 'The click-to-chat ad that this message came from.', {
    ctwa_clid: platformText('Id of the click on the ad.', 'ARAkLkA8rmlFeiCktEJQ'),
    source_id: platformText('Id of the ad or post.', '120210000000000000'),
    source_type: platformText('Type of the clicked source.', 'ad'),
    source_url: platformText('URL of the ad or post.', 'https://fb.me/3cr4Wqqkv'),
    headline: platformText('Headline of the ad.', 'Summer offer'),
  }),
)

export const messageKinds = ['text', 'template', 'image', 'video', 'audio', 'document', 'location', 'system'] as const

export const messageFields = {
  id: idSchema('Message id.'),
  external_id: Type.String({
    maxLength: 512,
    description:
      "Platform id; empty until assigned. It contains the customer's number, so keys that see phones masked get a stable opaque id instead.",
    example: 'wamid.HBgNNTU4MTk5MTIzNDU2NxUCABIYFjNFQjA',
  }),
  direction: oneOf(['inbound', 'outbound'] as const, {
    title: 'Direction',
    description: '`inbound`: from the customer.',
  }),
  kind: oneOf(messageKinds, {
    title: 'MessageKind',
    description: 'Only `text` and `template` can be sent.',
    example: 'text',
  }),
  text: text(maxPlatformText, 'Message text, or the caption of media.', { example: 'Hello!' }),
  // openapi-fetch drops a field whose type is null alone.
  media: Type.Unsafe<null>({ type: ['object', 'null'], description: 'Always null: this interface returns no media.' }),
  status: oneOf(messageStatuses, {
    title: 'MessageStatus',
    description: 'Only advances, never goes back.',
    example: 'delivered',
  }),
  error_code: nullable(text(50, "The platform's error code if the message failed.", { example: '131026' })),
  actor: nullable(
    Type.Object(
      {
        type: oneOf(['agent', 'user', 'token', 'form', 'system'] as const, { description: '`agent` is an API key.' }),
        id: nullable(uuid()),
      },
      { description: 'Who sent the message through this service; null for inbound messages and echoes.' },
    ),
  ),
  occurred_at: timestamp('Platform time, unique within the conversation.'),
  referral,
}

export const Message = Type.Object(messageFields, { title: 'Message' })

export const Template = titled('Template', {
  id: idSchema('Template id.'),
  connection_id: idSchema('Chat connection on which the template can be sent.'),
  name: text(512, 'Name on the platform.', { example: 'order_confirmation' }),
  language: text(512, 'Language code.', { example: 'pt_BR' }),
  category: text(512, 'Category as spelled by the platform.', { example: 'UTILITY' }),
  body: text(maxPlatformText, 'Text with placeholders `{{1}}`, `{{2}}`, ….', { example: 'Hi {{1}}, your order left.' }),
  parameter_count: count('Number of `body_params` that a send requires.', { example: 1 }),
})

export const ListQuery = strict({
  connection_id: Type.Optional(text(255, 'Only conversations of this connection.')),
  phone: Type.Optional(
    Type.String({
      pattern: '^[0-9]{8,20}$',
      maxLength: 20,
      description:
        "The customer's number, 8 to 20 digits: returns the conversation with exactly that number, or none. A key that sees phones masked can look up 30 unknown numbers per minute.",
      example: '5581991234567',
    }),
  ),
  owner: Type.Optional(text(255, '`human`, `agent` (any agent) or `agent:<api_key_id>`.', { example: 'human' })),
  status: Type.Optional(status),
  updated_after: Type.Optional(timestamp('Only conversations updated after it.')),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30, description: 'At most 100.' })),
  cursor: Type.Optional(cursor('Cursor from the previous page; valid only with the same filters.')),
})
export type ListQuery = Static<typeof ListQuery>

export const ConversationId = Type.Object({
  id: text(255, 'Conversation id.', { example: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' }),
})

export const MessagesQuery = strict({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'At most 100.' })),
  before: Type.Optional(timestamp('Only messages that occurred before it.')),
})

export const TemplatesQuery = strict({ connection_id: Type.Optional(text(255, 'Only templates of this connection.')) })

export const NoQuery = Type.Object({}, closed)

export const ConversationChanges = Type.Object(
  {
    owner: Type.Optional(
      Type.String({
        maxLength: ownerLength,
        pattern: '^(human|agent:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$',
        description: "`human` or the key's own `agent:<api_key_id>`; another agent's id returns 403 `OWNER_FORBIDDEN`.",
        example: 'human',
      }),
    ),
    status: Type.Optional(status),
    label_ids: Type.Optional(
      Type.Array(uuid(), {
        maxItems: 20,
        description: 'Replaces the labels. Unknown ids return 400.',
        example: [],
      }),
    ),
    note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        pattern: visiblePattern,
        description: 'Adds an internal note. The customer does not see it.',
        example: 'Asked for a quote of 20 units.',
      }),
    ),
  },
  { ...closed, minProperties: 1, example: { status: 'pending', note: 'Asked for a quote of 20 units.' } },
)
export type ConversationChanges = Static<typeof ConversationChanges>

export const EchoBody = strict({
  connection_id: text(255, 'A `waba` connection that the key can see.'),
  to: Type.String({
    maxLength: 20,
    pattern: '^[0-9]{8,20}$',
    description: "The customer's number, digits only, with country code.",
    example: '5581991234567',
  }),
  external_id: Type.String({
    minLength: 1,
    maxLength: 512,
    description: 'Platform id of the message; one id stores one message.',
    example: 'wamid.HBgNNTU4MTk5MTIzNDU2NxUCABEYEjNFQjA',
  }),
  kind: oneOf(['text', 'template', 'interactive'] as const, {
    description: '`interactive` is stored as `text`.',
    example: 'text',
  }),
  body: Type.String({
    maxLength: 16_384,
    description: 'Message text or a short summary.',
    example: 'Your order left.',
  }),
  occurred_at: Type.Optional(timestamp('Time of the send, with offset; defaults to now.')),
})
export type EchoBody = Static<typeof EchoBody>

export const errorSchema = (
  title: string,
  statusCode: number,
  code: string,
  statusMessage: string,
  description: string,
) => errorResponse(title, statusCode, description, statusMessage, { code })

/** Errors of every Inbox API route; callers branch on `data.code`. */
export const inboxErrors = {
  ...errors(401, 403, 429, 500, 503),
  400: errorSchema(
    'InboxBadRequest',
    400,
    'INVALID_REQUEST',
    'status must be one of open, pending, snoozed, resolved, closed',
    '`INVALID_QUERY`: invalid query parameter. `INVALID_REQUEST`: invalid body. `data.issues` names each field.',
  ),
}

export const conversationErrors = {
  ...inboxErrors,
  404: errorSchema(
    'ConversationNotFound',
    404,
    'NOT_FOUND',
    'Conversation not found',
    '`NOT_FOUND`: no such conversation, or the key cannot see it.',
  ),
}

export const changeErrors = {
  ...conversationErrors,
  ...errors(413, 415),
  403: errorSchema(
    'OwnerForbidden',
    403,
    'OWNER_FORBIDDEN',
    'A key can assign a conversation to people or to itself, not to another agent',
    "`OWNER_FORBIDDEN`: the owner is another agent, or agents are stopped. Without a code: the workspace's plan does not include the inbox.",
  ),
  409: errorSchema(
    'OwnerMismatch',
    409,
    'OWNER_MISMATCH',
    'This key is not active, lacks inbox.write or does not allow the connection',
    '`OWNER_MISMATCH`: the key became inactive during the request. Or people have the conversation, and the workspace lets agents take back only conversations handed to them; `data.since` is the time since when.',
  ),
}

export const echoErrors = {
  ...inboxErrors,
  ...errors(413, 415),
  404: errorSchema(
    'EchoConnectionNotFound',
    404,
    'NOT_FOUND',
    'Chat connection not found',
    '`NOT_FOUND`: no official connection with this id, or the key cannot see it.',
  ),
}
