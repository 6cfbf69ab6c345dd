import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text, uuid } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { type NewPartner, newPartnerSchema, partnerProfiles, partnerSecrets } from '../partner/settings.ts'
import { templateHeaders } from '../templates/templates.ts'
import { type NewSession, newSessionSchema } from '../unofficial/session/schema.ts'
import { accountId, type NewWaba, newWabaSchema, version, wabaSecrets } from '../waba/settings.ts'
import { channels } from './connection.ts'
import { baseUrl, name, numberId } from './fields.ts'

export type NewConnection = NewWaba | NewPartner | NewSession
/** Judged by its channel alone, so that a mistake is told of that one. */
export const newConnectionSchema = Type.Unsafe<NewConnection>({
  type: 'object',
  required: ['channel'],
  properties: { channel: oneOf(channels, { title: 'Channel', description: 'How the number is connected.' }) },
  discriminator: { propertyName: 'channel' },
  oneOf: [newWabaSchema, newPartnerSchema, newSessionSchema],
})

/** Of all channels; which of them has what is said by its adapter. */
export const connectionChangesSchema = Type.Partial(
  Type.Object({ name, numberId, accountId, ...wabaSecrets, ...partnerSecrets, baseUrl, version }),
  { ...closed, minProperties: 1 },
)
export type ConnectionChanges = Static<typeof connectionChangesSchema>

const of = (owner: string) => `Null for a channel without it: ${owner} has one.`
const last4 = (what: string, owner: string) =>
  nullable(
    Type.String({
      maxLength: 4,
      description: `The last four characters of the ${what}; empty for a short one. ${of(owner)}`,
      example: 'x7Qa',
    }),
  )

export const connectionSchema = titled('Connection', {
  id: idSchema('The connection.'),
  channel: oneOf(channels, { title: 'Channel', description: 'How the number is connected.' }),
  name,
  numberId: Type.String({
    maxLength: 64,
    description:
      "The platform's phone number id. Of `unofficial`: the phone in digits, and the connection's own id until it is paired.",
    example: '106540352242922',
  }),
  phone: nullable(
    Type.String({
      maxLength: 20,
      description:
        'The number that customers write to, in digits. Null until the platform has told it, and until `unofficial` is paired.',
      example: '15550783881',
    }),
  ),
  accountId,
  state: oneOf(['active', 'paused', 'unavailable'] as const, {
    title: 'ConnectionState',
    description: '`paused` by a member; `unavailable` by the platform. Neither sends; both still receive.',
  }),
  stateReason: nullable(
    Type.String({
      maxLength: 200,
      description:
        'Why it is unavailable: `platform_error_<code>`, `unreachable`, `webhook_not_registered` at the partner, `public_url_not_reachable` from there, `number_connected_elsewhere` in this installation, `never_paired`, or what became of the account or session.',
      example: 'platform_error_190',
    }),
  ),
  stateChangedAt: timestamp('When the state last changed.'),
  holds: Type.Array(
    titled('ConnectionHold', {
      stops: oneOf(['all', 'billable', 'initiated', 'replies', 'nothing'] as const, {
        description:
          '`billable`: templates, but utility ones in the open window. `initiated`: templates outside the window. `replies`: what is sent within it. `nothing`: only shown.',
        example: 'billable',
      }),
      reason: text(200, 'As in `stateReason`, or `account_…` for what the platform keeps the account from.', {
        example: 'platform_error_131042',
      }),
      since: timestamp('Since when.'),
      nextTryAt: nullable(
        timestamp(
          'From then on one send tries whether it is over. Null for one that ends by itself, or when the platform is asked.',
        ),
      ),
      until: nullable(timestamp('When the platform says that it ends.')),
    }),
    { maxItems: 20, description: 'What the platform takes from nobody now. Empty when all is well.' },
  ),
  profile: nullable(
    oneOf(partnerProfiles, { title: 'PartnerProfile', description: `Which partner it is. ${of('`partner`')}` }),
  ),
  baseUrl: nullable(
    Type.String({
      maxLength: 300,
      description: 'Where the platform is reached. Null for the real network of `unofficial`.',
    }),
  ),
  version: nullable(
    Type.String({ maxLength: 7, description: `The version of the platform's API. ${of('`waba`')}`, example: 'v27.0' }),
  ),
  versionEndsOn: nullable(
    Type.String({
      maxLength: 10,
      description: 'The day on which the platform ends that version, in UTC; null where none is known.',
      example: '2028-11-04',
    }),
  ),
  accessTokenLast4: last4('access token', '`waba`'),
  appSecretLast4: last4('app secret', '`waba`'),
  apiKeyLast4: last4('API key', '`partner`'),
  signingSecretLast4: last4('secret that signs callbacks', 'a `partner` that signs'),
  webhookUrl: nullable(
    Type.String({
      maxLength: 2000,
      description:
        'Where the platform calls: for its webhook settings with `waba`, told to it with `partner`. `unofficial` has none.',
    }),
  ),
  acknowledgement: Type.Unsafe<{ by: string | null; at: string; until: string } | null>({
    type: ['object', 'null'],
    title: 'RiskAcknowledgement',
    description: 'Of an unofficial connection: who confirmed its risk, and until when that counts.',
    properties: {
      by: nullable(uuid('The member.')),
      at: timestamp('When.'),
      until: timestamp('90 days later.'),
    },
    required: ['by', 'at', 'until'],
  }),
  lastEventInAt: nullable(timestamp('When the platform last told of something; up to a minute behind.')),
  lastEventOutAt: nullable(timestamp('When something was last sent; up to a minute behind.')),
  templatesSyncedAt: nullable(timestamp('When the templates were last read.')),
  createdAt: timestamp('When it was connected.'),
  updatedAt: timestamp('When it last changed.'),
})

export const webhookSchema = Type.Unsafe<{ url: string; verifyToken: string } | null>({
  type: ['object', 'null'],
  description: 'What a person puts into the settings of the platform; null where there is nothing to put.',
  properties: {
    url: Type.String({ maxLength: 2000, description: "Paste it as the callback URL of the platform's app." }),
    verifyToken: Type.String({ maxLength: 1000, description: 'Paste it as the verify token. It is not shown again.' }),
  },
  required: ['url', 'verifyToken'],
})

// No answer of a platform is read beyond this.
const maxTemplateBytes = 8 * 1024 * 1024

export const templateSchema = titled('ConnectionTemplate', {
  id: idSchema('The template.'),
  name: text(512, 'As it is named at the platform.', { example: 'order_confirmation' }),
  language: text(512, 'Language code.', { example: 'pt_BR' }),
  category: text(512, 'As the platform spells it.', { example: 'UTILITY' }),
  status: text(512, 'As the platform spells it; only APPROVED ones are sent.', { example: 'APPROVED' }),
  body: text(maxTemplateBytes, 'With `{{1}}`, `{{2}}`, …', { example: 'Hi {{1}}, order {{2}} ships today.' }),
  parameterCount: count('Values that a send must bring.', { example: 2 }),
  header: nullable(
    oneOf(templateHeaders, {
      description:
        'The file that a send must bring for its header. Null for one without, and for one that cannot be sent.',
    }),
  ),
  sendable: Type.Boolean({
    description: 'Approved, and needs nothing but body parameters and, where it has a `header`, a file.',
  }),
})
