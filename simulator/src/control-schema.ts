import { type TObjectOptions, type TProperties, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../server/src/base/route.ts'
import { accountEvents } from './customer-actions.ts'
import { faultEffects, faultTargets } from './faults.ts'
import { fileKinds } from './files/present-file.ts'
import { adKinds, inboundKinds } from './inbound.ts'
import { templateCategories, templateStatuses } from './world.ts'

/** Object schema that allows no other fields. */
export const closed = <P extends TProperties>(fields: P, options: TObjectOptions = {}) =>
  Type.Object(fields, { additionalProperties: false, ...options })

const phone = Type.String({
  pattern: '^\\d{5,20}$',
  maxLength: 20,
  description: 'Digits with country code',
  example: '5511955501101',
})
const name = Type.String({ minLength: 1, maxLength: 100 })
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const count = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum, description }))
const anyObject = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })

// Limit of a JavaScript Date.
const maxShiftMs = 8_640_000_000_000_000

export const clockState = Type.Object({
  now: timestamp('The time of the service and of the platform'),
  shiftMs: Type.Integer({
    minimum: -maxShiftMs,
    maximum: maxShiftMs,
    description: 'Milliseconds ahead of the real time; negative when behind',
  }),
})
export const clockChange = closed(
  {
    advanceMs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 366 * 86_400_000, description: 'Moves on by so much' }),
    ),
    set: Type.Optional(timestamp('Goes to this time, and on from there')),
    follow: Type.Optional(Type.Literal(true, { description: 'Goes back to the real time' })),
  },
  { minProperties: 1, maxProperties: 1 },
)

const callback = {
  callbackUrl: Type.Optional(
    nullable(Type.String({ format: 'uri', maxLength: 2000, description: 'Where webhooks go; null for nowhere' })),
  ),
  verifyToken: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
}
export const numberChange = closed({
  ...callback,
  tokenState: Type.Optional(
    oneOf(['valid', 'expired'], { description: 'expired: calls are refused with 190/463, by a partner with 401' }),
  ),
  registered: flag('false: sends are refused with 133010'),
  subscribed: flag('false: no webhooks'),
  addressing: Type.Optional(
    oneOf(['pn', 'lid'], { description: 'How linked devices are told of customers first: by number or hidden id' }),
  ),
  signingSecret: Type.Optional(
    nullable(
      Type.String({ minLength: 8, maxLength: 200, description: "What the number's partner signs webhooks with" }),
    ),
  ),
})
export const numberCreate = closed({
  ...callback,
  phone,
  name,
  network: Type.Optional(
    oneOf(['official', 'linked'], { default: 'official', description: 'linked: a phone that devices are linked to' }),
  ),
  isPartners: flag('Served by a partner of the platform, with a key of its own'),
})
export const numberParams = Type.Object({ numberId: Type.String({ maxLength: 40 }) })

export const customerCreate = closed({
  numberId: Type.Optional(
    Type.String({ maxLength: 40, description: 'The number they chat with; the first unless given' }),
  ),
  name,
  phone,
  username: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 50 }))),
  hidesNumber: flag('Known to the business by a user id only'),
  online: flag('Whether the phone has a network'),
  readsAtOnce: flag('Whether what arrives is read at once'),
})
export const customerChange = Type.Partial(
  closed(
    {
      name,
      username: nullable(Type.String({ minLength: 1, maxLength: 50 })),
      hidesNumber: Type.Boolean(),
      online: Type.Boolean(),
      readsAtOnce: Type.Boolean(),
      phone: Type.Unsafe<string>({ ...phone, description: 'Another number; the platform announces the change' }),
    },
    { minProperties: 1 },
  ),
  { additionalProperties: false, minProperties: 1 },
)
export const customerParams = Type.Object({ customerId: Type.String({ maxLength: 20 }) })
const words = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }))
const place = closed({
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  name: words(1000),
  address: words(1000),
})
const card = closed({
  name,
  phones: Type.Array(phone, { minItems: 1, maxItems: 5 }),
  organisation: words(200),
  emails: Type.Optional(Type.Array(Type.String({ minLength: 3, maxLength: 200 }), { maxItems: 5 })),
})
export const utterance = closed({
  kind: Type.Optional(oneOf(inboundKinds, { default: 'text' })),
  text: Type.Optional(Type.String({ maxLength: 65_536, default: '' })),
  about: Type.Optional(
    Type.String({
      maxLength: 300,
      description: 'Id of the message that is quoted, reacted to, edited or taken back',
    }),
  ),
  fileId: Type.Optional(
    Type.String({ maxLength: 40, description: 'Of a file that was brought or made; else one is made up' }),
  ),
  place: Type.Optional(place),
  card: Type.Optional(card),
  choiceId: Type.Optional(
    Type.String({ maxLength: 256, description: 'Of `about`: what is chosen, as a button_reply or list_reply' }),
  ),
  ad: Type.Optional(oneOf(adKinds, { description: 'The ad or post that led here' })),
})
export const echo = closed({
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  kind: Type.Optional(oneOf(fileKinds, { description: 'Of the file' })),
  fileId: Type.Optional(Type.String({ maxLength: 40, description: 'Of a file that was brought or made' })),
})

export const templateCreate = closed({
  name: Type.String({ pattern: '^[a-z0-9_]{1,512}$', maxLength: 512 }),
  language: Type.String({ pattern: '^[a-z]{2,3}(_[A-Z]{2})?$', maxLength: 6 }),
  status: Type.Optional(oneOf(templateStatuses, { default: 'PENDING' })),
  category: Type.Optional(oneOf(templateCategories, { default: 'UTILITY' })),
  parameter_format: Type.Optional(oneOf(['POSITIONAL', 'NAMED'], { default: 'POSITIONAL' })),
  components: Type.Array(anyObject('As the platform writes them'), { minItems: 1, maxItems: 10 }),
})
export const templateChange = closed(
  {
    status: Type.Optional(oneOf(templateStatuses)),
    category: Type.Optional(oneOf(templateCategories)),
    components: Type.Optional(Type.Array(anyObject('As the platform writes them'), { minItems: 1, maxItems: 10 })),
    announce: Type.Optional(Type.Boolean({ default: true, description: 'Whether a webhook tells of it' })),
  },
  { minProperties: 1 },
)
export const templateParams = Type.Object({ templateId: Type.String({ maxLength: 40 }) })

export const faultCreate = closed({
  effect: oneOf(faultEffects, {
    description:
      'refuse: an error with `code`. fail: accepted, then the status `failed` with `code`. hang: no answer. reset: the ' +
      'connection breaks. late: accepted, answered after `afterMs`. server_error, html, garbage: a bad answer. Of files: ' +
      'expired: the address is no good any more. not_found: it is not there. slow: it takes `afterMs`. wrong_size, ' +
      'wrong_type, wrong_hash: another than was told. endless: it never ends.',
  }),
  on: Type.Optional(
    oneOf(faultTargets, {
      description:
        'send unless given, file for effects of files. number, webhook: the set-up calls of a partner. upload: a file ' +
        'is given. media: the address of one is asked for. file: it is fetched.',
    }),
  ),
  to: Type.Optional(nullable(Type.String({ maxLength: 140, description: 'Digits or user id; everyone unless given' }))),
  times: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'null: until removed' }))),
  code: Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999_999, default: 131_000 })),
  httpStatus: Type.Optional(nullable(Type.Integer({ minimum: 200, maximum: 599 }))),
  accepts: Type.Optional(Type.Boolean({ default: false, description: 'The message goes out all the same' })),
  afterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000, default: 30_000 })),
})
export const faultParams = Type.Object({ faultId: Type.String({ maxLength: 20 }) })

export const deliveryChange = closed(
  {
    delayMs: count(86_400_000, 'Every delivery waits so long'),
    duplicates: count(20, 'Further copies of every delivery, to linked devices as well'),
    drop: count(10_000, 'The next changes that are lost'),
    batch: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Changes in one delivery' })),
    reorder: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'Changes that are held, then delivered newest first, to linked devices as well',
      }),
    ),
    paused: flag('Holds everything until it is off again'),
    escapeSlashes: flag('Writes / as \\/'),
    skipDelivered: flag('Leaves the status `delivered` out'),
  },
  { minProperties: 1 },
)
export const ladderChange = closed(
  {
    sentMs: count(86_400_000, 'From the call to the status `sent`'),
    deliveredMs: count(86_400_000, 'From `sent` to `delivered`'),
    readMs: count(86_400_000, 'From `delivered` to `read`, for who reads at once'),
  },
  { minProperties: 1 },
)
export const accountEvent = closed({
  event: oneOf(accountEvents),
  numberId: Type.Optional(Type.String({ maxLength: 40 })),
})
export const rawWebhook = closed({
  field: Type.String({ minLength: 1, maxLength: 100, example: 'history' }),
  value: anyObject('The value of the change; for fields about messages, with metadata'),
  numberId: Type.Optional(Type.String({ maxLength: 40 })),
  isTimed: flag('Whether the entry carries a time, as those about accounts do'),
})
