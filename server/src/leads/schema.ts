import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../base/route.ts'
import { customFieldTypes } from './custom-fields.ts'
import { adPlatforms, priorities, sources } from './lead.ts'

const text = (description: string, options: object = {}) => Type.String({ description, ...options })

const writable = {
  uniqueCode: text('Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent.', {
    minLength: 1,
    maxLength: 255,
  }),
  externalRef: nullable(
    text("The caller's own reference, at most 255 characters, unique in the workspace. Null clears it.", {
      maxLength: 255,
    }),
  ),
  firstName: text('1 to 255 characters after trimming. The only field required on create. Sealed at rest.'),
  lastName: nullable(text('At most 255 characters after trimming. Null clears it. Sealed at rest.')),
  email: nullable(
    text('At most 254 characters, kept as typed and compared in lower case. Null clears it. Sealed at rest.'),
  ),
  phone: nullable(
    text(
      'Phone with country code: 8 to 20 digits once formatting is removed, kept as digits. A national number is taken when the workspace has a default country. Null clears it. Sealed at rest.',
    ),
  ),
  status: text('1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history.', {
    pattern: '^[a-z0-9_]{1,50}$',
  }),
  priority: oneOf(priorities, { description: 'How pressing the lead is.' }),
  source: oneOf(sources, { description: 'Where the lead came from; `chat_app` is the chat application.' }),
  adPlatform: nullable(oneOf(adPlatforms, { description: 'The advertising platform that brought the lead.' })),
  assignedTo: nullable(
    Type.String({ format: 'uuid', description: 'User handling the lead; a member of the workspace, else 400.' }),
  ),
  estimatedValue: nullable(
    Type.Number({ minimum: 0, maximum: 999_999_999_999.99, description: 'At most two decimals. Null clears it.' }),
  ),
  actualValue: nullable(
    Type.Number({ minimum: 0, maximum: 999_999_999_999.99, description: 'At most two decimals. Null clears it.' }),
  ),
  notes: nullable(text('At most 10,000 characters. Null clears it. Sealed at rest.', { maxLength: 10_000 })),
}

const customFieldValues = Type.Record(
  Type.String(),
  Type.Unsafe<string | boolean | null>({ type: ['string', 'boolean', 'null'] }),
  {
    description:
      'Key to value. Keys: at most 40 characters, lowercase snake_case, a letter first; at most 10 fields a lead. In answers a `k_` field is also listed without its prefix, unless that name is taken by another field. In a body, null removes a field.',
    example: { k_city: 'Recife', newsletter: true },
  },
)

// A lead that was read can be sent back: what only the service writes is taken and ignored.
const ignored = Object.fromEntries(
  ['id', 'createdAt', 'updatedAt', 'deletedAt', 'customFields', 'previousStatus'].map((name) => [
    name,
    Type.Optional(Type.Unsafe<unknown>({ description: 'Read-only: ignored.' })),
  ]),
)

const leadExample = {
  firstName: 'Marina',
  lastName: 'Duarte',
  email: 'marina@example.com',
  phone: '5581991234567',
  source: 'website',
  estimatedValue: 1500,
}

const partial = Type.Partial(Type.Object(writable)).properties
const changes = {
  ...partial,
  value: Type.Optional(
    nullable(Type.Number({ minimum: 0, maximum: 999_999_999_999.99, description: 'Alias of `actualValue`.' })),
  ),
  customFieldValues: Type.Optional(customFieldValues),
  ...ignored,
}

/** Fields to set on a lead that is there, or on one that an upsert may create. */
export const LeadChanges = Type.Object(changes, { additionalProperties: false, example: leadExample })
export type LeadChanges = Static<typeof LeadChanges>

export const NewLead = Type.Object(
  { ...changes, firstName: writable.firstName },
  { additionalProperties: false, example: leadExample },
)

const plain = {
  id: Type.String({ format: 'uuid', description: 'Assigned by the service (UUIDv7).' }),
  ...writable,
  createdAt: timestamp('UTC, with milliseconds.'),
  updatedAt: timestamp('UTC, with milliseconds.'),
  deletedAt: nullable(timestamp('Always null: a deleted lead is not shown.')),
}

export const Lead = Type.Object(plain, { description: 'A lead.' })

export const CustomField = Type.Object({
  key: Type.String({ description: 'The original key, with its `k_` where it came from a parameter.' }),
  label: Type.String(),
  type: oneOf(customFieldTypes),
  value: Type.Unsafe<string | boolean>({ type: ['string', 'boolean'], description: 'Boolean for `boolean` only.' }),
})

const customFields = {
  customFields: Type.Optional(
    Type.Array(CustomField, { description: 'Only when the lead has custom fields.', maxItems: 10 }),
  ),
  customFieldValues: Type.Optional(customFieldValues),
}

export const LeadDetail = Type.Object({ ...plain, ...customFields }, { description: 'A lead with its custom fields.' })

export const UpdatedLead = Type.Object({
  ...plain,
  previousStatus: Type.Optional(Type.String({ description: 'The status before this update.' })),
  value: Type.Optional(nullable(Type.Number({ description: 'Alias of `actualValue`.' }))),
})

export const Match = Type.Object(
  {
    by: oneOf(['id', 'uniqueCode', 'phone', 'externalRef'], { description: 'The field to match by.' }),
    value: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The value to match; a phone matches in all its common variants.',
    }),
  },
  { additionalProperties: false, example: { by: 'phone', value: '+55 81 99123-4567' } },
)

export const UpsertBody = Type.Object(
  {
    match: Match,
    lead: LeadChanges,
    createIfMissing: Type.Optional(
      Type.Boolean({ description: 'When not false and no lead matches, a lead is created.' }),
    ),
  },
  { additionalProperties: false },
)
export type UpsertBody = Static<typeof UpsertBody>

export const Identifier = Type.Object({
  identifier: Type.String({
    description: 'The `id`, `uniqueCode`, `externalRef` or `phone` of the lead, looked up in that order.',
    example: '5581991234567',
  }),
})
