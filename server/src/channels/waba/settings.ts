import { type Static, Type } from 'typebox'
import { nullable, oneOf } from '../../base/route.ts'
import { closed } from '../../team/team-schema.ts'
import { baseUrl, mustAnswer, name, numberId, platformId, secret } from '../connection/fields.ts'

export interface WabaSettings {
  /** Without a trailing slash: `https://graph.facebook.com`, or a simulator's. */
  baseUrl: string
  /** `v27.0` */
  version: string
  accessToken: string
  appSecret: string
  verifyToken: string
}

/** Of new connections. */
export const currentVersion = 'v27.0'

/** The platform ends a version two years after the next one came. */
const versionEnds: Record<string, string> = {
  'v20.0': '2026-09-24',
  'v21.0': '2027-01-21',
  'v22.0': '2027-05-20',
  'v23.0': '2027-10-08',
  'v24.0': '2028-02-18',
  'v25.0': '2028-07-29',
  'v26.0': '2028-11-04',
}
const oldestKnown = 20

/** The day on which a version ends, or has ended; null for one that has no end yet. */
export function endOfVersion(text: string): string | null {
  const isOlder = Number(text.slice(1)) < oldestKnown
  return versionEnds[isOlder ? `v${oldestKnown}.0` : text] ?? null
}

export const accountId = nullable(
  platformId("The platform's business account id; templates are read from it.", '102290129340398'),
)
export const version = Type.String({
  pattern: '^v\\d{1,3}\\.\\d{1,2}$',
  maxLength: 7,
  description: "The version of the platform's API.",
  example: 'v27.0',
})
export const wabaSecrets = {
  accessToken: secret('A token that may send messages and read templates. Sealed; never shown again.'),
  appSecret: secret("The app's secret, which signs callbacks. Sealed; never shown again."),
  verifyToken: secret('What the platform shows when it checks the webhook address. Made up when not sent.'),
}

export const newWabaSchema = Type.Object(
  {
    channel: oneOf(['waba'] as const, { description: 'The official platform.' }),
    name,
    numberId,
    accountId: Type.Optional(accountId),
    accessToken: wabaSecrets.accessToken,
    appSecret: wabaSecrets.appSecret,
    verifyToken: Type.Optional(wabaSecrets.verifyToken),
    baseUrl: Type.Optional(baseUrl),
    version: Type.Optional(version),
    mustAnswer: Type.Optional(mustAnswer),
  },
  { ...closed, title: 'NewWabaConnection' },
)
export type NewWaba = Static<typeof newWabaSchema>
