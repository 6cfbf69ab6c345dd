import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { numberStatusSchema } from '../health/number-status.ts'
import { type NewPartner, newPartnerSchema, partnerProfiles, partnerSecrets } from '../partner/settings.ts'
import { type NewSession, newSessionSchema } from '../unofficial/session/schema.ts'
import { accountId, appId, type NewWaba, newWabaSchema, version, wabaSecrets } from '../waba/settings.ts'
import { type NewWebsite, newWebsiteSchema, widgetChangesSchema, widgetSchema } from '../website/settings.ts'
import { channels } from './connection.ts'
import { baseUrl, name, numberId } from './fields.ts'

export type NewConnection = NewWaba | NewPartner | NewSession | NewWebsite
/** Validated against the schema of its channel only, so that errors refer to that schema. */
export const newConnectionSchema = Type.Unsafe<NewConnection>({
  type: 'object',
  required: ['channel'],
  properties: { channel: oneOf(channels, { title: 'Channel', description: 'How the number is connected.' }) },
  discriminator: { propertyName: 'channel' },
  oneOf: [newWabaSchema, newPartnerSchema, newSessionSchema, newWebsiteSchema],
})

/** Fields of all channels; the adapter decides which ones apply. */
export const connectionChangesSchema = Type.Partial(
  Type.Object({
    name,
    numberId,
    accountId,
    appId,
    ...wabaSecrets,
    ...partnerSecrets,
    baseUrl,
    version,
    widget: widgetChangesSchema,
  }),
  { ...closed, minProperties: 1 },
)
export type ConnectionChanges = Static<typeof connectionChangesSchema>

const onlyFor = (owner: string) => `Only for ${owner}; null otherwise.`
const last4 = (what: string, owner: string) =>
  nullable(text(4, `Last four characters of the ${what}; empty if it is short. ${onlyFor(owner)}`, { example: 'x7Qa' }))

export const connectionSchema = titled('Connection', {
  id: idSchema('The connection.'),
  channel: oneOf(channels, { title: 'Channel', description: 'How the number is connected.' }),
  name,
  numberId: Type.String({
    maxLength: 64,
    description:
      "The platform's phone number id, or the connection's id until one is chosen. For `unofficial`: the phone in digits, or the connection's id until it is paired. For `website`: the connection's id.",
    example: '106540352242922',
  }),
  phone: nullable(
    Type.String({
      maxLength: 20,
      description:
        'The number that customers write to, in digits. Null until the platform reports it or, for `unofficial`, until a phone is paired.',
      example: '15550783881',
    }),
  ),
  accountId,
  appId,
  state: oneOf(['active', 'paused', 'unavailable'] as const, {
    title: 'ConnectionState',
    description:
      '`paused`: paused by a member. `unavailable`: the platform prevents sending. Neither sends; both still receive.',
  }),
  stateReason: nullable(
    Type.String({
      maxLength: 200,
      description:
        'Why it is unavailable: `platform_error_<code>`, `unreachable`, `webhook_not_registered` (at the partner), `public_url_not_reachable` (from the partner), `number_connected_elsewhere` (in this installation), `never_paired`, `setup` (its steps are not all done), or a reason about the account or session.',
      example: 'platform_error_190',
    }),
  ),
  stateChangedAt: timestamp('When the state last changed.'),
  holds: Type.Array(
    titled('ConnectionHold', {
      stops: oneOf(['all', 'billable', 'initiated', 'replies', 'nothing'] as const, {
        description:
          '`billable`: templates, except utility templates in the open window. `initiated`: templates outside the window. `replies`: messages within the window. `nothing`: informational only.',
        example: 'billable',
      }),
      reason: text(200, 'As in `stateReason`, or `account_…` for a restriction of the account.', {
        example: 'platform_error_131042',
      }),
      since: timestamp('When it started.'),
      nextTryAt: nullable(
        timestamp(
          'From this time one send tests whether it has ended. Null if it ends by itself or is tested by a number check.',
        ),
      ),
      until: nullable(timestamp('When it ends, according to the platform.')),
    }),
    { maxItems: 20, description: 'Kinds of messages that the platform currently rejects. Empty if there are none.' },
  ),
  profile: nullable(
    oneOf(partnerProfiles, { title: 'PartnerProfile', description: `The partner. ${onlyFor('`partner`')}` }),
  ),
  baseUrl: nullable(text(300, "The platform's URL. Null for `unofficial` on the real network and for `website`.")),
  version: nullable(text(7, `The version of the platform's API. ${onlyFor('`waba`')}`, { example: 'v27.0' })),
  versionEndsOn: nullable(
    text(10, 'The date on which the platform ends this version, in UTC; null if unknown.', { example: '2028-11-04' }),
  ),
  accessTokenLast4: last4('access token', '`waba`'),
  appSecretLast4: last4('app secret', '`waba`'),
  apiKeyLast4: last4('API key', '`partner`'),
  signingSecretLast4: last4('secret that signs callbacks', 'a `partner` that signs'),
  widget: widgetSchema,
  webhookUrl: nullable(
    text(
      2000,
      'The URL for callbacks. With `waba`, enter it in the webhook settings of the platform; with `partner`, Parley registers it. Null for `unofficial` and `website`.',
    ),
  ),
  acknowledgement: Type.Unsafe<{ by: string | null; at: string; until: string } | null>({
    type: ['object', 'null'],
    title: 'RiskAcknowledgement',
    description: 'For an unofficial connection: who confirmed its risk, and until when.',
    properties: {
      by: nullable(uuid('The member who confirmed it.')),
      at: timestamp('When it was confirmed.'),
      until: timestamp('When the confirmation expires, 90 days later.'),
    },
    required: ['by', 'at', 'until'],
  }),
  numberStatus: Type.Union([numberStatusSchema, Type.Null()], {
    description: 'What the platform reports about the number; null before the first report.',
  }),
  lastEventInAt: nullable(timestamp('When the platform last sent an event; up to a minute behind.')),
  lastEventOutAt: nullable(timestamp('When a message was last sent; up to a minute behind.')),
  templatesSyncedAt: nullable(timestamp('When the templates were last synced.')),
  createdAt: timestamp('When the connection was created.'),
  updatedAt: timestamp('When the connection last changed.'),
})

export const webhookSchema = Type.Unsafe<{ url: string; verifyToken: string } | null>({
  type: ['object', 'null'],
  description: "Values for the platform's webhook settings; null if there are none.",
  properties: {
    url: text(2000, 'Paste it as the callback URL of the app on the platform.'),
    verifyToken: text(1000, 'Paste it as the verify token. It is not returned again.'),
  },
  required: ['url', 'verifyToken'],
})
