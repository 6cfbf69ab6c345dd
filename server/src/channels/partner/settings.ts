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
  /** What callbacks show in a header that we name when we register: the partner does not sign them. */
  webhookToken: string
  /** Signs callbacks, where the partner's plan does that; then nothing unsigned is taken. */
  signingSecret: string | null
}

export const partnerSecrets = {
  apiKey: secret("The number's key at the partner. Sealed; never shown again."),
  signingSecret: nullable(
    secret(
      'What the partner signs callbacks with, if it does: then only signed ones are taken. Sealed; never shown again.',
    ),
  ),
}

export const newPartnerSchema = Type.Object(
  {
    channel: oneOf(['partner'] as const, { description: 'A partner of the official platform.' }),
    profile: oneOf(partnerProfiles, { title: 'PartnerProfile', description: 'Which partner it is.' }),
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
