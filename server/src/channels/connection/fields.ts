import { Type } from 'typebox'
import { text, visiblePattern } from '../../base/schema-types.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'

export const connectionsPath = '/api/team/v1/workspaces/:workspaceId/connections'
export const connectionParams = Type.Object({ ...workspaceParams, connectionId: idSchema('The connection.') })

/** An id issued by the platform. */
export const platformId = (description: string, example: string) =>
  Type.String({ pattern: '^[0-9A-Za-z_.-]{1,64}$', maxLength: 64, description, example })

/** A secret that is stored encrypted. */
export const secret = (description: string) =>
  Type.String({ minLength: 8, maxLength: 1000, pattern: '^[!-~]+$', description })

export const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visiblePattern,
  description: "The team's name for the number.",
  example: 'Sales',
})

export const numberId = platformId("The platform's phone number id.", '106540352242922')

export const mustAnswer = Type.Boolean({
  description:
    'If true and the platform rejects the number or does not respond, nothing is saved: 422 `CHECK_FAILED` with the reason. Otherwise the connection is saved as `unavailable`.',
})

export const baseUrl = text(
  300,
  "The platform's URL: https at a public address, or an address that the operator allows with PARLEY_ALLOW_CIDRS.",
)
