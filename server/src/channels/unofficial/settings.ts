import { type Static, Type } from 'typebox'
import { oneOf } from '../../base/route.ts'
import { closed } from '../../team/team-schema.ts'
import { baseUrl, name } from '../connection/fields.ts'

export interface SessionSettings {
  /** A simulator's address in place of the real network. */
  baseUrl: string | null
}

export const newSessionSchema = Type.Object(
  {
    channel: oneOf(['unofficial'] as const, { description: 'A phone that links us as a device; it is paired next.' }),
    name,
    baseUrl: Type.Optional(Type.String({ ...baseUrl, description: 'A simulator in place of the real network.' })),
  },
  { ...closed, title: 'NewUnofficialConnection' },
)
export type NewSession = Static<typeof newSessionSchema>
