import { Type } from 'typebox'
import { nullable, oneOf } from '../../../server/src/base/route.ts'
import { wholeNumber } from '../../../server/src/base/schema-types.ts'
import { fileKinds } from '../files/shown-file.ts'

const strict = { additionalProperties: false }
const ratchet = wholeNumber('How far the keys of the device have moved on')
const jid = Type.String({ minLength: 1, maxLength: 120, example: '5511955501234@s.whatsapp.net' })
const messageId = Type.String({ minLength: 1, maxLength: 120 })

export const credentials = Type.Object(
  {
    device: Type.String({ minLength: 1, maxLength: 60 }),
    secret: Type.String({ minLength: 16, maxLength: 120 }),
    phone: Type.String({ pattern: '^\\d{5,20}$', maxLength: 20 }),
    ratchet,
  },
  strict,
)
export const open = Type.Object({ credentials: nullable(credentials) }, strict)
export const socketParams = Type.Object({ socketId: Type.String({ maxLength: 60 }) })
export const pollRequest = Type.Object(
  {
    after: wholeNumber('The last event that was taken for good'),
    ratchet,
    waitMs: Type.Integer({ minimum: 0, maximum: 25_000 }),
  },
  strict,
)
export const message = Type.Object(
  {
    id: messageId,
    jid,
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536, description: 'Or the caption of the file' })),
    previewUrl: Type.Boolean(),
    file: Type.Optional(
      Type.Object(
        {
          fileId: Type.String({ maxLength: 40, description: 'As the network has called it when it was given' }),
          kind: oneOf(fileKinds),
          name: Type.Optional(Type.String({ minLength: 1, maxLength: 240 })),
        },
        strict,
      ),
    ),
    quotes: Type.Optional(messageId),
    reaction: Type.Optional(
      Type.Object({ about: messageId, emoji: Type.String({ maxLength: 40, description: 'Empty lifts it' }) }, strict),
    ),
    ratchet,
  },
  strict,
)
export const fileQuery = Type.Object(
  {
    type: Type.String({ minLength: 3, maxLength: 120, example: 'image/jpeg' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 240 })),
  },
  strict,
)
export const read = Type.Object({ jid, id: messageId }, strict)
export const codeRequest = Type.Object(
  { phone: Type.String({ pattern: '^\\d{5,20}$', maxLength: 20, description: 'Digits with country code' }) },
  strict,
)
