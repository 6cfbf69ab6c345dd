import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import { choiceLimits } from '../../channels/interactive-options.ts'
import type { PromptType } from '../../channels/prompts.ts'
import { closed, errorSchema, strict, strictTitled } from '../api/schema.ts'
import { promptFields } from './prompt-schema.ts'

export const TextSend = strictTitled('TextToSend', {
  kind: Type.Literal('text', { description: 'Free text; requires an open 24-hour window.' }),
  text: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description:
      'At most 16,384 characters. A text too long for one message of the channel is sent as several, in order; for the caller it remains one message.',
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
        description: 'Values for `{{1}}`, `{{2}}`, … in order; exactly `parameter_count` of the template.',
        example: ['Ana', 'A-17'],
      }),
    ),
  }),
})

/** Recognized but not supported: always 422. */
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
        'Newest message you have seen. If the customer or someone else has written since, nothing is sent: 409 `THREAD_MOVED` with that `message`.',
    }),
  ),
}

export const overBudget = {
  over_budget: Type.Optional(
    Type.Boolean({
      description:
        'Sends it although a budget is used up, which the thread records. Without it, nothing is sent then: 409 `BUDGET_REACHED` with that `budget`.',
    }),
  ),
}

const quotes = {
  quoted_message_id: Type.Optional(
    uuid('Message of this conversation to quote; the customer sees it above the new one.'),
  ),
}

export const QuotingTextSend = Type.Object({ ...TextSend.properties, ...quotes }, closed)

export const HeaderLocationSchema = strictTitled('HeaderLocation', {
  latitude: Type.Number({ minimum: -90, maximum: 90, example: -8.05 }),
  longitude: Type.Number({ minimum: -180, maximum: 180, example: -34.9 }),
  name: Type.Optional(Type.String({ maxLength: 1000, example: 'Shop' })),
  address: Type.Optional(Type.String({ maxLength: 1000, example: 'Rua da Aurora, 10' })),
})

/** Values that some templates need besides those of the body; not in the Inbox API of the contract. */
const templateInputFields = {
  header_param: Type.Optional(Type.String({ maxLength: 255, description: 'Value of a text header.', example: 'A-17' })),
  header_url: Type.Optional(
    Type.String({
      maxLength: 2000,
      pattern: '^https://',
      description: 'Where the platform loads the file of a `header`, instead of an upload.',
      example: 'https://example.com/sale.jpg',
    }),
  ),
  header_location: Type.Optional(HeaderLocationSchema),
  button_params: Type.Optional(
    Type.Array(Type.String({ maxLength: 2000 }), {
      maxItems: 10,
      description: 'Values of buttons, in order: end of a URL, or code.',
      example: ['A-17'],
    }),
  ),
}

const { name, language, body_params } = TemplateSend.properties.template.properties

/** A template and its values, without an upload for its header. */
export const TemplateToStart = strictTitled('TemplateToStart', {
  ...{ name, language },
  body_params: Type.Optional({ ...body_params, description: 'Values of `{{1}}`, … in order.' }),
  ...templateInputFields,
})
export type TemplateChoice = Static<typeof TemplateToStart>

export const QuotingTemplateSend = strict({
  kind: TemplateSend.properties.kind,
  template: strictTitled('TemplateChoiceAsMember', {
    ...TemplateToStart.properties,
    header_upload_id: Type.Optional(
      uuid('Upload for the header, of its kind. A template with a `header` needs it or `header_url`.'),
    ),
  }),
  ...quotes,
})

export const MediaSend = strict({
  kind: Type.Literal('media', { description: 'A file; requires an open 24-hour window.' }),
  upload_id: uuid('Upload of this conversation that is not attached to a message yet.'),
  text: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description: 'Caption of an image, a video or a document; at most `captionLength` of the upload limits.',
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
    description: 'Returned when the customer chooses it. Defaults to its position, starting at `1`.',
    example: 'deliver',
  }),
)

const words = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, description, example })

const Fields = strictTitled('ChoicesToOffer', {
  text: words(choiceLimits.text, 'Text above the options.', 'How do you want to get it?'),
  buttons: Type.Optional(
    Type.Array(
      strictTitled('ButtonToSend', {
        id: choiceId,
        title: words(choiceLimits.buttonTitle, 'Button text.', 'Deliver it'),
      }),
      { minItems: 1, maxItems: choiceLimits.buttons, description: 'Either `buttons` or `list`.' },
    ),
  ),
  list: Type.Optional(
    strictTitled('ListToSend', {
      button: words(choiceLimits.buttonTitle, 'Text of the button that opens the list.', 'See the times'),
      rows: Type.Array(
        strictTitled('RowToSend', {
          id: choiceId,
          title: words(choiceLimits.rowTitle, 'Row title.', 'Monday, 9:00'),
          description: Type.Optional(words(choiceLimits.description, 'Text below the title.', 'With Ana')),
        }),
        { minItems: 1, maxItems: choiceLimits.rows },
      ),
    }),
  ),
  footer: Type.Optional(words(choiceLimits.footer, 'Small text below the options.', 'We deliver until 18:00.')),
})
export type ChoicesFields = Static<typeof Fields>

export const ChoicesSend = strict({
  kind: Type.Literal('choices', {
    description:
      'A text with buttons or a list; requires an open 24-hour window. The customer’s choice arrives as a text that quotes it. Channels that do not support them return 422 `UNSUPPORTED_KIND`.',
  }),
  choices: Fields,
  ...quotes,
})

const prompt = <K extends PromptType>(kind: K, description: string) =>
  Type.Object(
    {
      kind: Type.Literal(kind, { description }),
      ...({ [kind]: promptFields[kind] } as Pick<typeof promptFields, K>),
      ...quotes,
    },
    closed,
  )

/** Like choices, they require an open window, and other channels return 422 `UNSUPPORTED_KIND`. */
export const PromptSends = {
  link: prompt('link', 'A text with a button that opens a web address.'),
  location_request: prompt(
    'location_request',
    'A text with a button that shares a location, which arrives as a location that quotes it.',
  ),
  contact_request: prompt(
    'contact_request',
    'A text with a button that shares the phone number of the customer, which arrives as a contact that quotes it.',
  ),
  address_request: prompt(
    'address_request',
    'A text with a button that opens a form for a postal address, which arrives as a text that quotes it. Only between numbers in India.',
  ),
  flow: prompt(
    'flow',
    'A text with a button that opens a form of the platform; the answers arrive as a text that quotes it.',
  ),
} as const

export const ReactionSend = strict({
  kind: Type.Literal('reaction', {
    description:
      'Replaces our previous reaction to the message. Does not count as an answer, and the owner does not change.',
  }),
  message_id: uuid('Message of this conversation to react to.'),
  emoji: nullable(text(40, 'One emoji; null removes our reaction.', { minLength: 1, example: '👍' })),
})

const seen = <P extends TProperties>(send: TObject<P>, title: string) =>
  Type.Object({ ...send.properties, ...lastSeen, ...overBudget }, { ...closed, title })

/** Body of a member's send: more kinds than for keys, and `if_last_message_id`. */
export const TeamSend = Type.Union([
  seen(QuotingTextSend, 'TextToSendAsMember'),
  seen(QuotingTemplateSend, 'TemplateToSendAsMember'),
  seen(MediaSend, 'MediaToSendAsMember'),
  seen(ChoicesSend, 'ChoicesToSendAsMember'),
  seen(PromptSends.link, 'LinkToSendAsMember'),
  seen(PromptSends.location_request, 'LocationRequestToSendAsMember'),
  seen(PromptSends.contact_request, 'ContactRequestToSendAsMember'),
  seen(PromptSends.address_request, 'AddressRequestToSendAsMember'),
  seen(PromptSends.flow, 'FlowToSendAsMember'),
  seen(ReactionSend, 'ReactionToSendAsMember'),
  InteractiveSend,
])

/** Length of an Idempotency-Key header: 255 characters, all escaped, plus quotes. */
export const maxKeyHeader = 512

export const SendHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      maxLength: maxKeyHeader,
      description:
        'Required. Unique value per message: 1–255 printable ASCII characters, raw or as a quoted string. A repeat sends nothing and returns the first response, also if it was `failed`.',
      example: 'order-A-17-shipped',
    }),
  ),
})

export const Sent = titled('SendResult', {
  message_id: uuid('Message id.'),
  status: oneOf(['sent', 'failed'], {
    description: 'Immediate result from the platform. Later changes arrive as `inbox.message.status`.',
    example: 'sent',
  }),
})

const conflicts =
  '`OWNER_MISMATCH`: the caller does not own the conversation; the message names the owner. `ON_STANDBY`: another app on the number has the conversation at the platform, with its role in `data.thread_owner`; only a person may answer. `CONNECTION_UNAVAILABLE`: the connection cannot send now. `ACKNOWLEDGEMENT_REQUIRED`: unofficial channel without a current acknowledgement. `NOT_RETRYABLE`: the result of the first request with this key is not known yet; retry later. `UNANSWERED_LIMIT`: the key has reached its limit of messages without an answer from the customer. `APPROVAL_NEEDED`: a person must approve what this key sends. In addition, 429 `DAILY_SENDS_REACHED`: the key has reached its limit per UTC day; and 429 `BUDGET_REACHED`: the message may cost more than what is left of a budget of the workspace, the connection or the key; `budget` says which, and when it starts again.'

/** Errors of a send that was refused or not delivered, by `data.code`. */
export const sendErrors = {
  409: errorSchema(
    'SendConflict',
    409,
    'OWNER_MISMATCH',
    'The team owns this conversation (owner: human). Nothing was sent; leave the reply to the team.',
    conflicts,
  ),
  422: errorSchema(
    'SendRefused',
    422,
    'WINDOW_CLOSED',
    'The 24-hour window is closed. Send a template.',
    '`UNSUPPORTED_KIND`: the kind is `interactive`. `WINDOW_CLOSED`: only a template can be sent. `TEMPLATE_NOT_APPROVED`: no approved template matches, or it needs more than body parameters; the message says which. `OPTED_OUT`: marketing template to a customer who has opted out. `INVALID_MESSAGE`: the message cannot be sent as it is, or its Idempotency-Key was used for another one.',
  ),
  502: errorSchema(
    'DeliveryFailed',
    502,
    'DELIVERY_FAILED',
    'The chat platform did not deliver the message',
    'The platform could not be reached, or its response was lost. The message is `failed`; a later status can correct this. The same key never sends again.',
  ),
}

/** Additional conflict of a member's send. */
export const memberSendConflict = errorSchema(
  'MemberSendConflict',
  409,
  'THREAD_MOVED',
  'There are newer messages. Read them, then send again or discard your message.',
  `${conflicts} For members, \`BUDGET_REACHED\` is 409, and \`over_budget\` sends the message anyway. \`THREAD_MOVED\`: there are messages newer than \`if_last_message_id\`; \`message\` is the newest one.`,
)

/** Additional conflicts of a decision on a draft. */
export const draftConflict = errorSchema(
  'DraftConflict',
  409,
  'DRAFT_STALE',
  'The customer has written again or the conversation has another owner since this was drafted. Nothing was sent.',
  '`DRAFT_STALE`: what the draft answers has changed. `DRAFT_DECIDED`: someone else has decided, with another text, or the agent has proposed another answer; `status` says which. Otherwise as for a send.',
)
