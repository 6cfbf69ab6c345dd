import { type TObjectOptions, type TProperties, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../server/src/base/route.ts'
import { accountEvents } from './customer-actions.ts'
import { faultEffects, faultTargets } from './faults.ts'
import { fileKinds } from './files/present-file.ts'
import { adKinds, inboundKinds } from './inbound.ts'
import { numberStatusFields } from './number-status.ts'
import { setupFields } from './setup.ts'
import { templateCategories, templateQualities, templateStatuses } from './simulated-template.ts'
import { answerers } from './world.ts'

/** Object schema that allows no other fields. */
export const closedObject = <P extends TProperties>(fields: P, options: TObjectOptions = {}) =>
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
  now: timestamp('Time of the service and the platform'),
  shiftMs: Type.Integer({
    minimum: -maxShiftMs,
    maximum: maxShiftMs,
    description: 'Milliseconds ahead of the real time; negative when behind',
  }),
})
export const clockChange = closedObject(
  {
    advanceMs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 366 * 86_400_000, description: 'Milliseconds to advance by' }),
    ),
    set: Type.Optional(timestamp('Sets the clock to this time; it then runs on')),
    follow: Type.Optional(Type.Literal(true, { description: 'Returns to real time' })),
  },
  { minProperties: 1, maxProperties: 1 },
)

const callback = {
  callbackUrl: Type.Optional(
    nullable(Type.String({ format: 'uri', maxLength: 2000, description: 'URL that receives webhooks; null for none' })),
  ),
  verifyToken: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
}
export const numberChange = closedObject({
  ...callback,
  ...Type.Partial(numberStatusFields).properties,
  ...Type.Partial(setupFields).properties,
  paymentFails: flag('true: what is charged fails with 131042'),
  freeServiceMessages: count(1_000_000, 'Service messages that are free of charge in a month'),
  addressing: Type.Optional(
    oneOf(['pn', 'lid'], { description: 'Identifier that linked devices receive first: phone number or hidden id' }),
  ),
  signingSecret: Type.Optional(
    nullable(
      Type.String({ minLength: 8, maxLength: 200, description: "Secret of the number's partner for signing webhooks" }),
    ),
  ),
})
export const numberCreate = closedObject({
  ...callback,
  phone,
  name,
  network: Type.Optional(
    oneOf(['official', 'linked'], { default: 'official', description: 'linked: a phone with linked devices' }),
  ),
  isPartners: flag('Served by a partner of the platform, with its own key'),
  sharesTokenOf: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of a number whose app and token can access this one too' }),
  ),
  sharesAccountOf: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of a number of the same account, app and token' }),
  ),
  isNew: flag("Not connected yet: not registered, not subscribed, and not on a phone's app"),
})
export const numberParams = Type.Object({ numberId: Type.String({ maxLength: 40 }) })

export const customerCreate = closedObject({
  numberId: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of the business number they chat with; defaults to the first' }),
  ),
  name,
  phone,
  username: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 50 }))),
  hidesNumber: flag('The business sees only a user id, not the number'),
  online: flag('Whether the phone is online'),
  readsAtOnce: flag('Whether messages are read on arrival'),
})
export const customerChange = Type.Partial(
  closedObject(
    {
      name,
      username: nullable(Type.String({ minLength: 1, maxLength: 50 })),
      hidesNumber: Type.Boolean(),
      online: Type.Boolean(),
      readsAtOnce: Type.Boolean(),
      stopsMarketing: Type.Boolean({
        description: 'Stops marketing messages of the business, or resumes them; the platform announces it',
      }),
      isSaturated: Type.Boolean({
        description: 'Gets so much marketing that the platform delivers none to them, with 131049',
      }),
      answeredBy: oneOf(answerers, {
        description:
          'Who has the conversation at the platform: `business` is this service, others are other apps on the number',
      }),
      phone: Type.Unsafe<string>({ ...phone, description: 'New number; the platform announces the change' }),
    },
    { minProperties: 1 },
  ),
  { additionalProperties: false, minProperties: 1 },
)
export const customerParams = Type.Object({ customerId: Type.String({ maxLength: 20 }) })
const words = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }))
const place = closedObject({
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  name: words(1000),
  address: words(1000),
})
const card = closedObject({
  name,
  phones: Type.Array(phone, { minItems: 1, maxItems: 5 }),
  organisation: words(200),
  emails: Type.Optional(Type.Array(Type.String({ minLength: 3, maxLength: 200 }), { maxItems: 5 })),
})
export const utterance = closedObject({
  kind: Type.Optional(oneOf(inboundKinds, { default: 'text' })),
  text: Type.Optional(Type.String({ maxLength: 65_536, default: '' })),
  about: Type.Optional(
    Type.String({
      maxLength: 300,
      description: 'Id of the message to quote, react to, edit or delete',
    }),
  ),
  fileId: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of an uploaded or ready-made file; defaults to a ready-made one' }),
  ),
  place: Type.Optional(place),
  card: Type.Optional(card),
  choiceId: Type.Optional(
    Type.String({ maxLength: 256, description: 'Id of the option to choose in the message `about`' }),
  ),
  ad: Type.Optional(oneOf(adKinds, { description: 'Ad or post that the customer came from' })),
})
export const otherAppMessage = closedObject({ text: Type.String({ minLength: 1, maxLength: 4096 }) })
export const echo = closedObject({
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  kind: Type.Optional(oneOf(fileKinds, { description: 'Kind of the file' })),
  fileId: Type.Optional(Type.String({ maxLength: 40, description: 'Id of an uploaded or ready-made file' })),
})

export const templateCreate = closedObject({
  name: Type.String({ pattern: '^[a-z0-9_]{1,512}$', maxLength: 512 }),
  language: Type.String({ pattern: '^[a-z]{2,3}(_[A-Z]{2})?$', maxLength: 6 }),
  status: Type.Optional(oneOf(templateStatuses, { default: 'PENDING' })),
  category: Type.Optional(oneOf(templateCategories, { default: 'UTILITY' })),
  parameter_format: Type.Optional(oneOf(['POSITIONAL', 'NAMED'], { default: 'POSITIONAL' })),
  components: Type.Array(anyObject('Format of the platform'), { minItems: 1, maxItems: 10 }),
})
export const templateChange = closedObject(
  {
    status: Type.Optional(oneOf(templateStatuses)),
    category: Type.Optional(oneOf(templateCategories)),
    quality: Type.Optional(oneOf(templateQualities, { description: 'How customers react to it' })),
    rejectedReason: Type.Optional(
      Type.String({ pattern: '^[A-Z_]{1,60}$', maxLength: 60, description: 'With the status REJECTED' }),
    ),
    rejection: Type.Optional(
      closedObject(
        {
          reason: Type.String({ minLength: 1, maxLength: 500 }),
          recommendation: Type.String({ maxLength: 500 }),
        },
        { description: 'Explanation of a rejection' },
      ),
    ),
    components: Type.Optional(Type.Array(anyObject('Format of the platform'), { minItems: 1, maxItems: 10 })),
    announce: Type.Optional(Type.Boolean({ default: true, description: 'Whether to send a webhook about the change' })),
  },
  { minProperties: 1 },
)
export const templateParams = Type.Object({ templateId: Type.String({ maxLength: 40 }) })

export const faultCreate = closedObject({
  effect: oneOf(faultEffects, {
    description:
      'refuse: an error with `code`. fail: accepted, then the status `failed` with `code`. hang: no answer. reset: ' +
      'closes the connection. late: accepted, answered after `afterMs`. server_error, html, garbage: an invalid ' +
      'answer. For files: expired: the address has expired. not_found: no such file. slow: takes `afterMs`. ' +
      'wrong_size, wrong_type, wrong_hash: differs from the announced one. endless: never ends.',
  }),
  on: Type.Optional(
    oneOf(faultTargets, {
      description:
        'Defaults to send, or to file for effects of files. templates: their list. template: a new, changed or ' +
        'deleted one. number, webhook: set-up calls of a partner. setup: calls with which an official number is ' +
        'connected and checked. upload: ' +
        'upload of a file. media: request for its address. file: its download.',
    }),
  ),
  to: Type.Optional(nullable(Type.String({ maxLength: 140, description: 'Digits or user id; defaults to everyone' }))),
  times: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'null: until removed' }))),
  code: Type.Optional(Type.Integer({ minimum: 0, maximum: 9_999_999, default: 131_000 })),
  httpStatus: Type.Optional(nullable(Type.Integer({ minimum: 200, maximum: 599 }))),
  accepts: Type.Optional(Type.Boolean({ default: false, description: 'The message is sent despite the fault' })),
  afterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000, default: 30_000 })),
})
export const faultParams = Type.Object({ faultId: Type.String({ maxLength: 20 }) })

export const deliveryChange = closedObject(
  {
    delayMs: count(86_400_000, 'Delay of every delivery'),
    duplicates: count(20, 'Extra copies of every delivery, also to linked devices'),
    drop: count(10_000, 'Number of next changes to lose'),
    batch: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Changes per delivery' })),
    reorder: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'Changes to collect and then deliver newest first, also to linked devices',
      }),
    ),
    paused: flag('Collects everything until switched off'),
    escapeSlashes: flag('Escapes / as \\/'),
    skipDelivered: flag('Skips the status `delivered`'),
  },
  { minProperties: 1 },
)
export const ladderChange = closedObject(
  {
    sentMs: count(86_400_000, 'From the call to the status `sent`'),
    deliveredMs: count(86_400_000, 'From `sent` to `delivered`'),
    readMs: count(86_400_000, 'From `delivered` to `read`, for customers with readsAtOnce'),
  },
  { minProperties: 1 },
)
export const accountEvent = closedObject({
  event: oneOf(accountEvents),
  numberId: Type.Optional(Type.String({ maxLength: 40 })),
})
export const rawWebhook = closedObject({
  field: Type.String({ minLength: 1, maxLength: 100, example: 'history' }),
  value: anyObject('Value of the change; for fields about messages, including metadata'),
  numberId: Type.Optional(Type.String({ maxLength: 40 })),
  isTimed: flag('Whether the entry has a time, as those about accounts do'),
})
