import { type Static, type TProperties, Type } from 'typebox'
import { errorAnswer, errors, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, cursor, text, unpaged, uuid, visible } from '../../base/schema-types.ts'
import { channels } from '../../channels/connection/connection.ts'
import { idSchema } from '../../team/team-schema.ts'
import { conversationStatuses } from '../conversation/conversation-state.ts'
import { messageStatuses } from '../conversation/message.ts'

/** A titled object, and what it is. */
export const described = <P extends TProperties>(title: string, description: string, properties: P) =>
  Type.Object(properties, { title, description })

const closed = { additionalProperties: false }

/** An object that refuses what it does not know. */
export const strict = <P extends TProperties>(properties: P) => Type.Object(properties, closed)

export const strictTitled = <P extends TProperties>(title: string, properties: P) =>
  Type.Object(properties, { ...closed, title })

// `agent:` and an id.
const ownerLength = 42
const owner = Type.String({
  maxLength: ownerLength,
  description: '`human` or `agent:<api_key_id>`. Only the owner may send.',
  example: 'agent:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
})
const status = oneOf(conversationStatuses, {
  title: 'ConversationStatus',
  description: 'A message of the customer makes it `open`, whatever it was.',
  example: 'open',
})
const channel = oneOf(channels, {
  title: 'Channel',
  description: '`waba`: official cloud API. `unofficial`: QR session. `partner`: connected partner number.',
  example: 'waba',
})

export const conversationFields = {
  id: idSchema('The conversation. It stays the same for ever: a customer has one on each connection.'),
  connection_id: idSchema('The chat connection.'),
  channel,
  owner,
  status,
  assigned_to_user_id: nullable(idSchema('The member it is assigned to.')),
  label_ids: Type.Array(uuid(), { ...unpaged, description: 'Labels of the workspace.', example: [] }),
  unread_count: count('Customer messages since it was last marked read.', { example: 1 }),
  window_expires_at: nullable(timestamp('End of the 24-hour window in which text can be sent; null when closed.')),
  snoozed_until: nullable(timestamp('When a timer opens it again; null: when the customer writes.')),
  last_message_at: timestamp('When its newest message was sent, by the platform.'),
  updated_at: timestamp('When it last changed.'),
  contact: titled('Contact', {
    name: nullable(text(255, 'As the platform tells it.', { example: 'Marina Duarte' })),
    phone: nullable(
      Type.String({
        maxLength: 20,
        description: 'Digits with country code; masked for keys that see phones masked; null while it is hidden.',
        example: '5581991234567',
      }),
    ),
  }),
}

export const Conversation = Type.Object(conversationFields, { title: 'Conversation' })

// What a platform tells is as long as its callback may be.
const maxPlatformText = 3 * 1024 * 1024
const platformText = (description: string, example: string) => nullable(text(maxPlatformText, description, { example }))

const referral = nullable(
  described('AdReferral', 'The click-to-chat ad that this message came from.', {
    ctwa_clid: platformText('Id of the click on the ad.', 'ARAkLkA8rmlFeiCktEJQ'),
    source_id: platformText('Id of the ad or post.', '120210000000000000'),
    source_type: platformText('What was clicked.', 'ad'),
    source_url: platformText('Where it stands.', 'https://fb.me/3cr4Wqqkv'),
    headline: platformText('Its headline.', 'Summer offer'),
  }),
)

export const messageKinds = ['text', 'template', 'image', 'video', 'audio', 'document', 'location', 'system'] as const

export const messageFields = {
  id: idSchema('The message.'),
  external_id: Type.String({
    maxLength: 512,
    description:
      "The platform's id; empty until it has assigned one. It holds the customer's number, so that keys with masked phones get a stable stand-in.",
    example: 'wamid.HBgNNTU4MTk5MTIzNDU2NxUCABIYFjNFQjA',
  }),
  direction: oneOf(['inbound', 'outbound'] as const, {
    title: 'Direction',
    description: '`inbound` is from the customer.',
  }),
  kind: oneOf(messageKinds, {
    title: 'MessageKind',
    description: 'Only `text` and `template` can be sent.',
    example: 'text',
  }),
  text: text(maxPlatformText, 'What was said; the caption of media.', { example: 'Hello!' }),
  // A type of null alone vanishes from what openapi-fetch makes of it.
  media: Type.Unsafe<null>({ type: ['object', 'null'], description: 'Always null: this interface returns no media.' }),
  status: oneOf(messageStatuses, {
    title: 'MessageStatus',
    description: 'Climbs and never goes down.',
    example: 'delivered',
  }),
  error_code: nullable(text(50, "Why it failed: the platform's code.", { example: '131026' })),
  actor: nullable(
    Type.Object(
      {
        type: oneOf(['agent', 'user', 'token', 'form', 'system'] as const, { description: '`agent` is an API key.' }),
        id: nullable(uuid()),
      },
      { description: 'Who sent it through this service; null for inbound messages and for echoes.' },
    ),
  ),
  occurred_at: timestamp("The platform's time, unique within the conversation."),
  referral,
}

export const Message = Type.Object(messageFields, { title: 'Message' })

export const Template = titled('Template', {
  id: idSchema('The template.'),
  connection_id: idSchema('The chat connection that it can be sent on.'),
  name: text(512, 'As it is named at the platform.', { example: 'order_confirmation' }),
  language: text(512, 'Language code.', { example: 'pt_BR' }),
  category: text(512, 'As the platform spells it.', { example: 'UTILITY' }),
  body: text(maxPlatformText, 'With placeholders `{{1}}`, `{{2}}`, ….', { example: 'Hi {{1}}, your order left.' }),
  parameter_count: count('How many `body_params` a send needs.', { example: 1 }),
})

export const ListQuery = strict({
  connection_id: Type.Optional(text(255, 'Only conversations of this connection.')),
  phone: Type.Optional(
    Type.String({
      pattern: '^[0-9]{8,20}$',
      maxLength: 20,
      description:
        "The customer's number, 8 to 20 digits: the conversation with exactly that number, or none. A key that sees phones masked may ask for 30 a minute that are none.",
      example: '5581991234567',
    }),
  ),
  owner: Type.Optional(text(255, '`human`, `agent` (any agent) or `agent:<api_key_id>`.', { example: 'human' })),
  status: Type.Optional(status),
  updated_after: Type.Optional(timestamp('Only conversations updated after it.')),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30, description: 'At most 100.' })),
  cursor: Type.Optional(cursor('From the page before; good for the same filters only.')),
})
export type ListQuery = Static<typeof ListQuery>

export const ConversationId = Type.Object({
  id: text(255, 'The conversation.', { example: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' }),
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
        description: "`human` or the key's own `agent:<api_key_id>`; another agent's id is 403 `OWNER_FORBIDDEN`.",
        example: 'human',
      }),
    ),
    status: Type.Optional(status),
    label_ids: Type.Optional(
      Type.Array(uuid(), {
        maxItems: 20,
        description: 'Replaces the labels. Unknown ids are 400.',
        example: [],
      }),
    ),
    note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        pattern: visible,
        description: 'Adds an internal note; nothing is sent to the customer.',
        example: 'Asked for a quote of 20 units.',
      }),
    ),
  },
  { ...closed, minProperties: 1, example: { status: 'pending', note: 'Asked for a quote of 20 units.' } },
)
export type ConversationChanges = Static<typeof ConversationChanges>

export const EchoBody = strict({
  connection_id: text(255, 'A `waba` connection that the key sees.'),
  to: Type.String({
    maxLength: 20,
    pattern: '^[0-9]{8,20}$',
    description: "The customer's number, digits only, with country code.",
    example: '5581991234567',
  }),
  external_id: Type.String({
    minLength: 1,
    maxLength: 512,
    description: "The platform's id of the message; one id stores one message.",
    example: 'wamid.HBgNNTU4MTk5MTIzNDU2NxUCABEYEjNFQjA',
  }),
  kind: oneOf(['text', 'template', 'interactive'] as const, {
    description: '`interactive` is stored as `text`.',
    example: 'text',
  }),
  body: Type.String({ maxLength: 16_384, description: 'The text, or a short summary.', example: 'Your order left.' }),
  occurred_at: Type.Optional(timestamp('When it was sent, with offset; now unless given.')),
})
export type EchoBody = Static<typeof EchoBody>

const refusal = (title: string, statusCode: number, code: string, statusMessage: string, description: string) =>
  errorAnswer(title, statusCode, description, statusMessage, { code })

/** The errors of every route of the inbox interface; callers branch on `data.code`. */
export const inboxErrors = {
  ...errors(401, 403, 429, 500, 503),
  400: refusal(
    'InboxBadRequest',
    400,
    'INVALID_REQUEST',
    'status must be one of open, pending, snoozed, resolved, closed',
    '`INVALID_QUERY`: a query parameter does not fit. `INVALID_REQUEST`: the body does not. `data.issues` names each field.',
  ),
}

export const conversationErrors = {
  ...inboxErrors,
  404: refusal(
    'ConversationNotFound',
    404,
    'NOT_FOUND',
    'Conversation not found',
    'Nothing there that this key may see: `NOT_FOUND`.',
  ),
}

export const changeErrors = {
  ...conversationErrors,
  ...errors(413, 415),
  403: refusal(
    'OwnerForbidden',
    403,
    'OWNER_FORBIDDEN',
    'A key can give a conversation to people or take it itself, not give it to another agent',
    "`OWNER_FORBIDDEN`: the owner is another agent, or agents are stopped. Without a code: the workspace's plan does not include the inbox.",
  ),
  409: refusal(
    'OwnerMismatch',
    409,
    'OWNER_MISMATCH',
    'This key is not active, lacks inbox.write or does not allow the connection',
    '`OWNER_MISMATCH`: the key stopped while the request was on its way. Or people have the conversation, in a workspace where agents take back only what is handed to them: `data.since` says since when.',
  ),
}

export const echoErrors = {
  ...inboxErrors,
  ...errors(413, 415),
  404: refusal(
    'EchoConnectionNotFound',
    404,
    'NOT_FOUND',
    'Chat connection not found',
    'Not an official connection that this key sees: `NOT_FOUND`.',
  ),
}
