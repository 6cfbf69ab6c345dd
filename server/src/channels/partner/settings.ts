import { type Static, Type } from 'typebox'
import { nullable, oneOf } from '../../base/route.ts'
import { closed } from '../../team/team-schema.ts'
import { baseUrl, mustAnswer, name, numberId, secret } from '../connection/fields.ts'

export const partnerProfiles = ['360dialog'] as const
export type PartnerProfileName = (typeof partnerProfiles)[number]

export interface PartnerSettings {
  profile: PartnerProfileName
  /** Without a trailing slash. */
  baseUrl: string
  apiKey: string
  /** Token in a header of callbacks, which we set when registering; used when the partner does not sign them. */
  webhookToken: string
  /** Secret for signed callbacks, if the partner's plan signs them; unsigned ones are then rejected. */
  signingSecret: string | null
}

export const partnerSecrets = {
  apiKey: secret("The partner's API key for this number. Stored encrypted; never returned."),
  signingSecret: nullable(
    secret(
      'The secret the partner signs callbacks with. If set, unsigned callbacks are rejected. Stored encrypted; never returned.',
    ),
  ),
}

export const newPartnerSchema = Type.Object(
  {
    channel: oneOf(['partner'] as const, { description: 'A partner of the official platform.' }),
    profile: oneOf(partnerProfiles, { title: 'PartnerProfile', description: 'The partner.' }),
    name,
    numberId,
    apiKey: partnerSecrets.apiKey,
    signingSecret: Type.Optional(partnerSecrets.signingSecret),
    baseUrl: Type.Optional(baseUrl),
    mustAnswer: Type.Optional(mustAnswer),
  },
  { ...closed, title: 'NewPartnerConnection' },
)
export type NewPartner = Static<typeof newPartnerSchema>
