import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { errorAnswer, nullable, oneOf, titled } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import { choiceLimits } from '../../channels/interactive-options.ts'
import { strict, strictTitled } from '../api/schema.ts'

const closed = { additionalProperties: false }

export const TextSend = strictTitled('TextToSend', {
  kind: Type.Literal('text', { description: 'A free text, for as long as the 24-hour window is open.' }),
  text: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description:
      'At most 16,384 characters. What is too long for one message of the channel goes out as several, in order; to the caller it stays one message.',
    example: 'Your order has left our warehouse.',
  }),
  preview_url: Type.Optional(
    Type.Boolean({ default: false, description: 'Shows a preview of the first link.', example: false }),
  ),
})

export const TemplateSend = strictTitled('TemplateToSend', {
  kind: Type.Literal('template', { description: 'An approved template, to open or restart a conversation.' }),
  template: strictTitled('TemplateChoice', {
    name: Type.String({ minLength: 1, maxLength: 512, example: 'order_update' }),
    language: Type.String({ minLength: 1, maxLength: 20, description: 'Language code.', example: 'en_US' }),
    body_params: Type.Optional(
      Type.Array(Type.String({ maxLength: 2048 }), {
        maxItems: 50,
        description: 'Fill `{{1}}`, `{{2}}`, … in order: as many as the template has in `parameter_count`.',
        example: ['Ana', 'A-17'],
      }),
    ),
  }),
})

/** Understood, but not offered: answered with 422 whatever else is in it. */
export const InteractiveSend = Type.Object(
  { kind: Type.Literal('interactive', { description: 'Not supported: 422 `UNSUPPORTED_KIND`.' }) },
  { additionalProperties: true, title: 'InteractiveToSend' },
)

export const Send = Type.Union([TextSend, TemplateSend, InteractiveSend])

const lastSeen = {
  if_last_message_id: Type.Optional(
    Type.String({
      format: 'uuid',
      maxLength: 36,
      description:
        'The newest message that you have seen. When the customer or somebody else has written since, nothing is sent: 409 `THREAD_MOVED` with that `message`.',
    }),
  ),
}

const quotes = {
  quoted_message_id: Type.Optional(
    uuid('The message of this conversation that this one answers to: the customer sees it above the new one.'),
  ),
}

export const QuotingTextSend = Type.Object({ ...TextSend.properties, ...quotes }, closed)

export const QuotingTemplateSend = strict({
  kind: TemplateSend.properties.kind,
  template: strictTitled('TemplateChoiceAsMember', {
    ...TemplateSend.properties.template.properties,
    header_upload_id: Type.Optional(
      uuid('The upload that fills the header: required for a template with a `header`, of that kind.'),
    ),
  }),
  ...quotes,
})

export const MediaSend = strict({
  kind: Type.Literal('media', { description: 'A file, for as long as the 24-hour window is open.' }),
  upload_id: uuid('An upload of this conversation that no message has used yet.'),
  text: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description:
        'The caption of an image, a video or a document: `captionLength` of the upload limits says how long it may be.',
      example: 'Your invoice for May.',
    }),
  ),
  ...quotes,
})

const choiceId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: choiceLimits.id,
    pattern: '^[\\x21-\\x7e]+$',
    description: 'Comes back when it is chosen. Left out: its place, from `1` on.',
    example: 'deliver',
  }),
)

const words = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, description, example })

const Fields = strictTitled('ChoicesToOffer', {
  text: words(choiceLimits.text, 'What stands above.', 'How do you want to get it?'),
  buttons: Type.Optional(
    Type.Array(
      strictTitled('ButtonToSend', {
        id: choiceId,
        title: words(choiceLimits.buttonTitle, 'What it says.', 'Deliver it'),
      }),
      { minItems: 1, maxItems: choiceLimits.buttons, description: 'Either these or `list`.' },
    ),
  ),
  list: Type.Optional(
    strictTitled('ListToSend', {
      button: words(choiceLimits.buttonTitle, 'What the button says that opens it.', 'See the times'),
      rows: Type.Array(
        strictTitled('RowToSend', {
          id: choiceId,
          title: words(choiceLimits.rowTitle, 'What it says.', 'Monday, 9:00'),
          description: Type.Optional(words(choiceLimits.description, 'Stands below.', 'With Ana')),
        }),
        { minItems: 1, maxItems: choiceLimits.rows },
      ),
    }),
  ),
  footer: Type.Optional(words(choiceLimits.footer, 'Small words below.', 'We deliver until 18:00.')),
})
export type ChoicesFields = Static<typeof Fields>

export const ChoicesSend = strict({
  kind: Type.Literal('choices', {
    description:
      'A text with buttons or a list, for as long as the 24-hour window is open. The customer’s choice comes as a text that quotes it. Channels without them answer 422 `UNSUPPORTED_KIND`.',
  }),
  choices: Fields,
  ...quotes,
})

export const ReactionSend = strict({
  kind: Type.Literal('reaction', {
    description:
      'Takes the place of our former reaction to the message. It is no answer: the conversation stays whose it is.',
  }),
  message_id: uuid('The message of this conversation that it is about.'),
  emoji: nullable(text(40, 'One emoji; null takes ours back.', { minLength: 1, example: '👍' })),
})

const seen = <P extends TProperties>(send: TObject<P>, title: string) =>
  Type.Object({ ...send.properties, ...lastSeen }, { ...closed, title })

/** What members send: more than keys, and they may say what they have seen. */
export const TeamSend = Type.Union([
  seen(QuotingTextSend, 'TextToSendAsMember'),
  seen(QuotingTemplateSend, 'TemplateToSendAsMember'),
  seen(MediaSend, 'MediaToSendAsMember'),
  seen(ChoicesSend, 'ChoicesToSendAsMember'),
  seen(ReactionSend, 'ReactionToSendAsMember'),
  InteractiveSend,
])

/** Of an Idempotency-Key: 255 characters, each of them escaped, in quotes. */
export const maxKeyHeader = 512

export const SendHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      maxLength: maxKeyHeader,
      description:
        'Required. A value of its own for each message, 1–255 printable ASCII characters, raw or as a quoted string. A repeat sends nothing and returns the first answer, also when that was `failed`.',
      example: 'order-A-17-shipped',
    }),
  ),
})

export const Sent = titled('SendResult', {
  message_id: uuid('The message.'),
  status: oneOf(['sent', 'failed'], {
    description: 'What the platform said at once. Later changes arrive as `inbox.message.status`.',
    example: 'sent',
  }),
})

const refusal = (title: string, statusCode: number, code: string, statusMessage: string, description: string) =>
  errorAnswer(title, statusCode, description, statusMessage, { code })

const conflicts =
  '`OWNER_MISMATCH`: another owns the conversation; the message names the owner. `CONNECTION_UNAVAILABLE`: the connection cannot send now. `ACKNOWLEDGEMENT_REQUIRED`: unofficial channel without a current acknowledgement. `NOT_RETRYABLE`: the outcome of the first request with this key is not known yet; repeat later. `UNANSWERED_LIMIT`: the team lets this key send so many messages without an answer of the customer, and no more. Beside them 429 `DAILY_SENDS_REACHED`: as many as the team lets it send in a UTC day.'

/** Why nothing was sent, or not delivered; `data.code` says which. */
export const sendRefusals = {
  409: refusal(
    'SendConflict',
    409,
    'OWNER_MISMATCH',
    'People answer this conversation: its owner is human. Nothing was sent; leave it to them.',
    conflicts,
  ),
  422: refusal(
    'SendRefused',
    422,
    'WINDOW_CLOSED',
    'The 24-hour window is closed. Send a template.',
    '`UNSUPPORTED_KIND`: `interactive`. `WINDOW_CLOSED`: only a template can be sent. `TEMPLATE_NOT_APPROVED`: no approved template matches, or it needs more than body parameters; the message says which. `OPTED_OUT`: a marketing template, and the customer has opted out of these. `INVALID_MESSAGE`: the message cannot be sent as it is, or its Idempotency-Key was used for another one.',
  ),
  502: refusal(
    'DeliveryFailed',
    502,
    'DELIVERY_FAILED',
    'The chat platform did not deliver the message',
    'The platform could not be reached, or its answer was lost. The message stands as `failed`; should a status tell otherwise, it is corrected. The same key never sends again.',
  ),
}

/** What a member's send is refused with beside these. */
export const memberRefusal = refusal(
  'MemberSendConflict',
  409,
  'THREAD_MOVED',
  'Somebody has written since. Read it, then send again or leave it.',
  `${conflicts} \`THREAD_MOVED\`: somebody has written since \`if_last_message_id\`; \`message\` is the newest of it.`,
)
