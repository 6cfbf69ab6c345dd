import { Type } from 'typebox'

const strict = { additionalProperties: false }
const customerId = Type.String({ maxLength: 20 })

export const phoneParams = Type.Object({ numberId: Type.String({ maxLength: 40 }) })
export const deviceParams = Type.Object({
  numberId: Type.String({ maxLength: 40 }),
  deviceId: Type.String({ maxLength: 60 }),
})
export const scanned = Type.Object(
  { qr: Type.String({ minLength: 1, maxLength: 1000, description: 'What the QR code says' }) },
  strict,
)
export const typedCode = Type.Object(
  {
    code: Type.String({ minLength: 8, maxLength: 20, description: 'Eight characters; dashes and case are no matter' }),
  },
  strict,
)
export const opened = Type.Object({ customerId }, strict)
export const newChat = Type.Object(
  {
    phone: Type.String({ pattern: '^\\d{5,20}$', maxLength: 20, description: 'Digits with country code' }),
    text: Type.String({ minLength: 1, maxLength: 4096 }),
  },
  strict,
)
export const drop = Type.Object(
  {
    code: Type.Integer({ minimum: 400, maximum: 599, description: 'Why the socket closes', example: 428 }),
    again: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        default: 0,
        description: 'So many sockets that open next close with it',
      }),
    ),
  },
  strict,
)
export const rawEvent = Type.Object(
  {
    event: Type.String({ pattern: '^[a-z]+([-.][a-z]+)*$', maxLength: 60, example: 'messages.upsert' }),
    data: Type.Unknown({ description: 'Anything at all' }),
  },
  strict,
)
