import { type Static, Type } from 'typebox'
import { nullable, oneOf } from '../../base/route.ts'
import { closed } from '../../team/team-schema.ts'
import { baseUrl, mustAnswer, name, platformId, secret } from '../connection/fields.ts'

export interface WabaSettings {
  /** Without a trailing slash: `https://graph.facebook.com`, or a simulator's URL. */
  baseUrl: string
  /** For example `v27.0`. */
  version: string
  accessToken: string
  appSecret: string
  verifyToken: string
  /** Absent if it was not entered. */
  appId?: string | null
}

/** Default for new connections. */
export const currentVersion = 'v27.0'

/** The platform retires a version two years after its successor was released. */
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

/** Returns the date on which a version is or was retired; null if not announced. */
export function versionEndDate(text: string): string | null {
  const isOlder = Number(text.slice(1)) < oldestKnown
  return versionEnds[isOlder ? `v${oldestKnown}.0` : text] ?? null
}

export const accountId = nullable(
  platformId("The platform's business account id, used to read templates.", '102290129340398'),
)
export const appId = nullable(
  platformId('The id of the app at the platform, to which sample files of templates are uploaded.', '670843887433847'),
)
export const version = Type.String({
  pattern: '^v\\d{1,3}\\.\\d{1,2}$',
  maxLength: 7,
  description: "The version of the platform's API.",
  example: 'v27.0',
})
export const wabaSecrets = {
  accessToken: secret('An access token that can send messages and read templates. Stored encrypted; never returned.'),
  appSecret: secret("The app's secret, which signs callbacks. Stored encrypted; never returned."),
  verifyToken: secret('The token the platform sends to verify the webhook URL. Generated if omitted.'),
}

export const newWabaSchema = Type.Object(
  {
    channel: oneOf(['waba'] as const, { description: 'The official platform.' }),
    name,
    numberId: Type.Optional(
      platformId(
        "The platform's phone number id. If omitted, the connection is set up step by step: it is `unavailable` with the reason `setup` until a number is chosen and every step works.",
        '106540352242922',
      ),
    ),
    accountId: Type.Optional(accountId),
    appId: Type.Optional(appId),
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
