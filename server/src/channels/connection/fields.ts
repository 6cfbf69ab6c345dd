import { Type } from 'typebox'
import { visible } from '../../base/schema-types.ts'

/** An id that the platform has given. */
export const platformId = (description: string, example: string) =>
  Type.String({ pattern: '^[0-9A-Za-z_.-]{1,64}$', maxLength: 64, description, example })

/** A secret that is stored sealed. */
export const secret = (description: string) =>
  Type.String({ minLength: 8, maxLength: 1000, pattern: '^[!-~]+$', description })

export const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visible,
  description: 'What the team calls the number.',
  example: 'Sales',
})

export const numberId = platformId("The platform's phone number id.", '106540352242922')

export const mustAnswer = Type.Boolean({
  description:
    'Keeps nothing when the platform refuses the number or does not answer: 422 `CHECK_FAILED` with the reason. Unless sent, it is kept as `unavailable`.',
})

export const baseUrl = Type.String({
  maxLength: 300,
  description:
    'Where the platform is reached: https at a public address, or whatever the operator allows by PARLEY_ALLOW_CIDRS.',
})
