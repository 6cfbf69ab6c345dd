import { Type } from 'typebox'
import { oneOf } from '../base/route.ts'
import { readyMadeNames } from './files/ready-made.ts'

const strict = { additionalProperties: false }
const numberId = Type.Optional(
  Type.String({ maxLength: 40, description: 'The number it is for; the first unless given' }),
)
const name = Type.Optional(Type.String({ minLength: 1, maxLength: 240, description: 'What the file is called' }))

export const fileQuery = Type.Object(
  {
    numberId,
    name,
    type: Type.String({ minLength: 3, maxLength: 120, description: 'Its type', example: 'image/jpeg' }),
    isVoice: Type.Optional(
      Type.Boolean({ description: 'A voice note: what a browser has recorded becomes what phones send' }),
    ),
  },
  strict,
)
export const madeFile = Type.Object({ numberId, name: oneOf(readyMadeNames), fileName: name }, strict)
export const fileParams = Type.Object({ fileId: Type.String({ maxLength: 40 }) })
export const sealedParams = Type.Object({ path: Type.String({ maxLength: 60 }) })
