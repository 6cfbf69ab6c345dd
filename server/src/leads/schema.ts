import { type Static, Type } from 'typebox'
import { maxPhoneLength } from '../base/phone.ts'
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
      { maxLength: maxPhoneLength },
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

export const Lead = Type.Object(plain, { title: 'Lead', description: 'A lead.' })

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

export const LeadDetail = Type.Object(
  { ...plain, ...customFields },
  { title: 'LeadDetail', description: 'A lead with its custom fields.' },
)

/** The bodies of the lead events. */
export const LeadEvent = Type.Object(
  {
    ...plain,
    deletedAt: nullable(timestamp('Set in `lead.deleted` alone.')),
    ...customFields,
    previousStatus: Type.Optional(
      Type.String({ description: 'In `lead.updated`, when the status changed: what it was.' }),
    ),
  },
  { title: 'LeadEvent', description: '`lead.*`: the lead as it was right after the change.' },
)

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
    maxLength: 255,
    description: 'The `id`, `uniqueCode`, `externalRef` or `phone` of the lead, looked up in that order.',
    example: '5581991234567',
  }),
})

export const ListQuery = Type.Object(
  {
    status: Type.Optional(
      text('One status, or several separated by commas.', { minLength: 1, maxLength: 1000, example: 'new,qualified' }),
    ),
    priority: Type.Optional(oneOf(priorities)),
    source: Type.Optional(oneOf(sources)),
    adPlatform: Type.Optional(oneOf(adPlatforms)),
    assignedTo: Type.Optional(Type.String({ format: 'uuid', description: 'Leads of this user.' })),
    createdFrom: Type.Optional(timestamp('Created at or after; ISO 8601, a bare date is midnight UTC.')),
    createdTo: Type.Optional(timestamp('Created at or before; ISO 8601.')),
    updatedFrom: Type.Optional(timestamp('Updated at or after; ISO 8601.')),
    updatedTo: Type.Optional(timestamp('Updated at or before; ISO 8601.')),
    sortBy: Type.Optional(oneOf(['createdAt', 'updatedAt'], { description: 'Default `createdAt`.' })),
    sortOrder: Type.Optional(oneOf(['asc', 'desc'], { description: 'Default `desc`.' })),
    cursor: Type.Optional(
      Type.String({
        description: 'The `nextCursor` of the page before, unchanged, with the same filters and sort.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Leads a page. Default 50.' })),
    page: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Legacy paging, from 1; ignored when `cursor` is sent.',
      }),
    ),
    search: Type.Optional(
      text(
        'Finds leads whose name, e-mail, phone, uniqueCode or externalRef contains the text, whatever its case and accents. Under 3 characters it finds the beginnings of uniqueCode and externalRef only.',
        { maxLength: 255, example: 'duarte' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type ListQuery = Static<typeof ListQuery>

const success = Type.Boolean({ description: 'True when the request succeeded.' })

export const LeadList = Type.Object({
  success,
  data: Type.Array(Lead),
  pagination: Type.Object({
    page: nullable(Type.Integer({ description: 'Null in cursor mode.' })),
    limit: Type.Integer(),
    total: Type.Integer({ description: 'Exact count of leads that fit the filters.' }),
    totalPages: nullable(Type.Integer({ description: 'Null in cursor mode.' })),
    cursor: nullable(Type.String({ description: 'The cursor that was sent.' })),
    nextCursor: nullable(Type.String({ description: 'Send it as `cursor` for the next page; null at the end.' })),
  }),
})

/** A page of leads for people, who see custom fields in lists as well. */
export const TeamLeadList = Type.Object({
  leads: Type.Array(LeadDetail),
  total: Type.Integer({ description: 'Exact count of leads that fit the filters.' }),
  nextCursor: nullable(Type.String({ description: 'Send it as `cursor` for the next page; null at the end.' })),
})

export const LeadFound = Type.Object({ success, data: LeadDetail })

export const LeadCreated = Type.Object({
  success,
  message: Type.String({ example: 'Lead created successfully' }),
  data: Lead,
  lead: Lead,
})

export const LeadUpdatedAnswer = Type.Object({
  success,
  message: Type.String({ description: '`Lead updated successfully` or `No changes detected`.' }),
  data: UpdatedLead,
  lead: UpdatedLead,
})

export const LeadDeleted = Type.Object({ success, message: Type.String({ example: 'Lead deleted successfully' }) })

export const LeadRestored = Type.Object({
  success,
  message: Type.String({ example: 'Lead restored successfully' }),
  data: Lead,
  lead: Lead,
})

const dryRunEcho = Type.Optional(Type.Boolean({ description: 'Present and true when nothing was written.' }))

export const LeadUpserted = Type.Object({
  success,
  action: oneOf(['created', 'updated']),
  data: Lead,
  lead: Lead,
  dryRun: dryRunEcho,
})

const dryRun = Type.Optional(
  Type.Boolean({ description: 'Answer what would happen; write nothing and count no quota.' }),
)

const customParameters = {
  '^k_': Type.String({
    description: 'A custom field: at most 40 characters of key with the `k_`, at most 255 of value.',
  }),
}

const parameters = { patternProperties: customParameters, additionalProperties: false } as const

/** Query of a route that takes custom fields as `k_*` parameters. */
export const CustomParameters = Type.Unsafe<Record<string, string>>({ type: 'object', ...parameters })
export const UpsertQuery = Type.Unsafe<{ dryRun?: boolean } & Record<string, unknown>>({
  ...Type.Object({ dryRun }),
  ...parameters,
})
export const BulkQuery = Type.Object({ dryRun }, { additionalProperties: false })

export const BulkBody = Type.Object(
  {
    items: Type.Array(Type.Unsafe<unknown>({}), {
      maxItems: 100,
      description: 'At most 100 upserts, run in order; a later item sees an earlier one. Each is checked by itself.',
    }),
    options: Type.Optional(
      Type.Object(
        {
          continueOnError: Type.Optional(
            Type.Boolean({ description: 'Default true. When false, the first failure is the last result.' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

export const BulkResult = Type.Object({
  success: Type.Boolean({ description: 'True when no item failed.' }),
  processed: Type.Integer({ description: 'How many results there are.' }),
  created: Type.Integer(),
  updated: Type.Integer(),
  failed: Type.Integer(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Position of the item, from 0.' }),
      match: Type.Unsafe<unknown>({ description: 'The matcher as it was sent.' }),
      success: Type.Boolean(),
      action: Type.Optional(oneOf(['created', 'updated'])),
      lead: Type.Optional(Lead),
      error: Type.Optional(
        Type.Object({
          statusCode: Type.Integer(),
          statusMessage: Type.String(),
          data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
        }),
      ),
    }),
  ),
  dryRun: dryRunEcho,
})

export const NoQuery = Type.Object({}, { additionalProperties: false })

export const LeadId = Type.Object({ id: Type.String({ description: 'The `id` of the deleted lead.' }) })
