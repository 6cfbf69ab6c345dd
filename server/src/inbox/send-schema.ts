import { Type } from 'typebox'
import { oneOf } from '../base/route.ts'

const closed = { additionalProperties: false }

export const TextSend = Type.Object(
  {
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
  },
  { ...closed, title: 'Text' },
)

export const TemplateSend = Type.Object(
  {
    kind: Type.Literal('template', { description: 'An approved template, to open or restart a conversation.' }),
    template: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 512, example: 'order_update' }),
        language: Type.String({ minLength: 1, maxLength: 20, description: 'Language code.', example: 'en_US' }),
        body_params: Type.Optional(
          Type.Array(Type.String({ maxLength: 2048 }), {
            maxItems: 50,
            description: 'Fill `{{1}}`, `{{2}}`, … in order: as many as the template has in `parameter_count`.',
            example: ['Ana', 'A-17'],
          }),
        ),
      },
      closed,
    ),
  },
  { ...closed, title: 'Template' },
)

/** Understood, but not offered: answered with 422 whatever else is in it. */
export const InteractiveSend = Type.Object(
  { kind: Type.Literal('interactive', { description: 'Not supported: 422 `UNSUPPORTED_KIND`.' }) },
  { additionalProperties: true, title: 'Interactive' },
)

export const Send = Type.Union([TextSend, TemplateSend, InteractiveSend])

export const SendHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Required. A value of its own for each message, 1–255 printable ASCII characters, raw or as a quoted string. A repeat sends nothing and returns the first answer, also when that was `failed`.',
      example: 'order-A-17-shipped',
    }),
  ),
})

export const Sent = Type.Object({
  message_id: Type.String({ format: 'uuid', description: 'The message.' }),
  status: oneOf(['sent', 'failed'], {
    description: 'What the platform said at once. Later changes arrive as `inbox.message.status`.',
    example: 'sent',
  }),
})
