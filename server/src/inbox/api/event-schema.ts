import { Type } from 'typebox'
import { nullable, timestamp } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { conversationFields, messageFields } from './schema.ts'

const { id, connection_id, channel, owner, status, window_expires_at, contact } = conversationFields
const about = { id, connection_id, channel, owner }
const { external_id, kind, text, media, occurred_at, referral, error_code } = messageFields

const actor = Type.Object(
  { type: Type.String({ maxLength: 20, example: 'agent' }), id: nullable(uuid()) },
  {
    title: 'EventActor',
    description: 'Who did it. An agent compares `id` with its own key id to skip what it did itself.',
  },
)

/** The bodies of the inbox events. */
export const MessageReceived = Type.Object(
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
  { title: 'MessageReceivedEvent', description: '`inbox.message.received`: a message of the customer has arrived.' },
)

export const MessageSent = Type.Object(
  {
    conversation: Type.Object(about),
    message: Type.Object({ id: messageFields.id, kind, text, status: messageFields.status, occurred_at }),
    actor: Type.Unsafe<object | null>({ anyOf: [actor, { type: 'null' }], description: 'Null for echoes.' }),
  },
  {
    title: 'MessageSentEvent',
    description: "`inbox.message.sent`: a message has gone out, also the reader's own, or was echoed.",
  },
)

const at = timestamp('When it happened.')

export const MessageStatus = Type.Object(
  { conversation_id: id, message_id: messageFields.id, status: messageFields.status, error_code, at },
  { title: 'MessageStatusEvent', description: '`inbox.message.status`: a message has climbed, or failed.' },
)

export const OwnerChanged = Type.Object(
  { conversation_id: id, owner, actor, at },
  { title: 'OwnerChangedEvent', description: '`inbox.conversation.owner_changed`: somebody else may send now.' },
)
