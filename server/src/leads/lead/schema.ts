import { type Static, Type } from 'typebox'
import { maxPhoneLength } from '../../base/phone/phone.ts'
import { maxMessageLength, nullable, oneOf, publishedAs, timestamp, titled } from '../../base/route.ts'
import { count, cursor, leadStatus, page, uuid, visiblePattern } from '../../base/schema-types.ts'
import { customFieldTypes, maxKeyLength, maxLengthOf, maxTextLength } from './custom-fields.ts'
import { adPlatforms, priorities, sources } from './lead.ts'

const text = (description: string, options: object = {}) => Type.String({ description, ...options })

// Surrounding whitespace is trimmed before the length check.
const untrimmed = { maxLength: 1000 }

const amount = (description: string) => Type.Number({ minimum: 0, maximum: 999_999_999_999.99, description })

const writable = {
  uniqueCode: text('Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent.', {
    minLength: 1,
    maxLength: 255,
    pattern: visiblePattern,
  }),
  externalRef: nullable(
    text("The caller's own reference, at most 255 characters, unique in the workspace. Null clears it.", {
      maxLength: 255,
    }),
  ),
  firstName: text(
    '1 to 255 characters after trimming. The only field required on create. Encrypted at rest.',
    untrimmed,
  ),
  lastName: nullable(text('At most 255 characters after trimming. Null clears it. Encrypted at rest.', untrimmed)),
  email: nullable(
    text('At most 254 characters, kept as typed and compared in lower case. Null clears it. Encrypted at rest.', {
      maxLength: 254,
    }),
  ),
  phone: nullable(
    text(
      'Phone with country code: 8 to 20 digits once formatting is removed, kept as digits. National numbers are accepted if the workspace has a default country. Null clears it. Encrypted at rest.',
      { maxLength: maxPhoneLength },
    ),
  ),
  status: leadStatus('1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history.'),
  priority: oneOf(priorities, { title: 'LeadPriority', description: 'Urgency of the lead.' }),
  source: oneOf(sources, {
    title: 'LeadSource',
    description: 'Origin of the lead; `chat_app` is the chat application.',
  }),
  adPlatform: nullable(
    oneOf(adPlatforms, { title: 'AdPlatform', description: 'The advertising platform that brought the lead.' }),
  ),
  assignedTo: nullable(uuid('User handling the lead. Must be a member of the workspace.')),
  estimatedValue: nullable(amount('At most two decimals. Null clears it.')),
  actualValue: nullable(amount('At most two decimals. Null clears it.')),
  notes: nullable(text('At most 10,000 characters. Null clears it. Encrypted at rest.', { maxLength: 10_000 })),
}

// `textarea` allows the longest values of all custom field types.
const maxValueLength = maxLengthOf('textarea')

const customFieldValues = Type.Record(
  Type.String(),
  Type.Unsafe<string | boolean | null>({ type: ['string', 'boolean', 'null'], maxLength: maxValueLength }),
  {
    description:
      'Key to value. Keys: at most 40 characters, lowercase snake_case, a letter first; at most 10 fields a lead. Responses also list a `k_` field without its prefix, unless another field has that name. In a body, null removes a field.',
    example: { k_city: 'Recife', newsletter: true },
  },
)

// A lead that was read can be sent back: read-only fields are accepted and ignored.
const readOnlyFields = Object.fromEntries(
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

const aliasOfActualValue = amount('Alias of `actualValue`.')

const partial = Type.Partial(Type.Object(writable)).properties
const changes = {
  ...partial,
  value: Type.Optional(nullable(aliasOfActualValue)),
  customFieldValues: Type.Optional(customFieldValues),
  ...readOnlyFields,
}

/** Fields to set on an existing lead, or on one that an upsert may create. */
export const LeadChanges = Type.Object(changes, {
  title: 'LeadChanges',
  additionalProperties: false,
  example: leadExample,
})
export type LeadChanges = Static<typeof LeadChanges>

export const NewLead = Type.Object(
  { ...changes, firstName: writable.firstName },
  { title: 'NewLead', additionalProperties: false, example: leadExample },
)

const plain = {
  id: uuid('Assigned by the service (UUIDv7).'),
  ...writable,
  firstName: text('1 to 255 characters.', { maxLength: 255 }),
  lastName: nullable(text('At most 255 characters.', { maxLength: 255 })),
  phone: nullable(
    text('8 to 20 digits with country code; masked for callers with masked phone visibility.', { maxLength: 20 }),
  ),
  createdAt: timestamp('UTC, with milliseconds.'),
  updatedAt: timestamp('UTC, with milliseconds.'),
  deletedAt: nullable(timestamp('Always null: a deleted lead is not shown.')),
}

export const Lead = Type.Object(plain, { title: 'Lead', description: 'A lead.' })

export const CustomField = titled('CustomField', {
  key: text('The original key, with the prefix `k_` if it came from a query parameter.', { maxLength: maxKeyLength }),
  label: text('Display name; the key if none was given.', { maxLength: 200 }),
  type: oneOf(customFieldTypes, { title: 'CustomFieldType' }),
  value: Type.Unsafe<string | boolean>({
    type: ['string', 'boolean'],
    maxLength: maxValueLength,
    description: 'Boolean for `boolean` only.',
  }),
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

export const LeadEvent = Type.Object(
  {
    ...plain,
    deletedAt: nullable(timestamp('Set only in `lead.deleted`.')),
    ...customFields,
    previousStatus: Type.Optional(leadStatus('The former status, in `lead.updated` if the status changed.')),
  },
  { title: 'LeadEvent', description: '`lead.*`: the lead right after the change.' },
)

export const MergedLead = Type.Object(
  {
    ...LeadEvent.properties,
    mergedId: uuid('The lead that was merged into this one, and deleted.'),
    mergeId: uuid('The merge.'),
  },
  { title: 'MergedLeadEvent', description: '`lead.merged`: the lead right after the merge.' },
)

export const UpdatedLead = titled('UpdatedLead', {
  ...plain,
  previousStatus: Type.Optional(leadStatus('The status before this update.')),
  value: Type.Optional(nullable(aliasOfActualValue)),
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
  { title: 'LeadMatch', additionalProperties: false, example: { by: 'phone', value: '+55 81 99123-4567' } },
)

export const UpsertBody = Type.Object(
  {
    match: Match,
    lead: LeadChanges,
    createIfMissing: Type.Optional(
      Type.Boolean({ description: 'If not false and no lead matches, a lead is created.' }),
    ),
  },
  { title: 'LeadUpsert', additionalProperties: false },
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
    priority: Type.Optional(oneOf(priorities, { title: 'LeadPriority' })),
    source: Type.Optional(oneOf(sources, { title: 'LeadSource' })),
    adPlatform: Type.Optional(oneOf(adPlatforms, { title: 'AdPlatform' })),
    assignedTo: Type.Optional(uuid('Leads of this user.')),
    createdFrom: Type.Optional(timestamp('Created at or after; ISO 8601, a bare date is midnight UTC.')),
    createdTo: Type.Optional(timestamp('Created at or before; ISO 8601.')),
    updatedFrom: Type.Optional(timestamp('Updated at or after; ISO 8601.')),
    updatedTo: Type.Optional(timestamp('Updated at or before; ISO 8601.')),
    sortBy: Type.Optional(oneOf(['createdAt', 'updatedAt'], { description: 'Default `createdAt`.' })),
    sortOrder: Type.Optional(oneOf(['asc', 'desc'], { description: 'Default `desc`.' })),
    cursor: Type.Optional(cursor('The `nextCursor` of the previous page, unchanged, with the same filters and sort.')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Leads per page. Default 50.' })),
    page: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Legacy page number, from 1; ignored if `cursor` is sent.',
      }),
    ),
    search: Type.Optional(
      text(
        'Finds leads whose name, e-mail, phone, uniqueCode or externalRef contains the text, ignoring case and accents. A text shorter than 3 characters matches whole words of names, and the start of uniqueCodes and externalRefs; in scripts without spaces between words, such as Chinese, it matches any part.',
        { maxLength: 255, example: 'duarte' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type ListQuery = Static<typeof ListQuery>

const success = Type.Boolean({ description: 'True when the request succeeded.' })
const message = (options: object) => Type.String({ maxLength: 100, ...options })

export const LeadList = Type.Object({
  success,
  data: Type.Array(Lead, page),
  pagination: Type.Object({
    page: nullable(count('Null in cursor mode.')),
    limit: Type.Integer({ minimum: 1, maximum: 100 }),
    total: count('Exact number of leads that match the filters.'),
    totalPages: nullable(count('Null in cursor mode.')),
    cursor: nullable(cursor('The cursor that was sent.')),
    nextCursor: nullable(cursor('Send it as `cursor` for the next page; null at the end.')),
  }),
})

export const labelIds = (description: string) => Type.Array(uuid(), { maxItems: 20, description, example: [] })

export const TeamLead = titled('LabelledLead', {
  ...LeadDetail.properties,
  labelIds: labelIds('Its labels.'),
})

export const TeamLeadList = Type.Object({
  leads: Type.Array(TeamLead, page),
  total: count('Exact number of leads that match the filters.'),
  nextCursor: nullable(cursor('Send it as `cursor` for the next page; null at the end.')),
})

export const LeadFound = Type.Object({ success, data: LeadDetail })

const done = (example: string) => Type.Object({ success, message: message({ example }), data: Lead, lead: Lead })
export const LeadCreated = done('Lead created successfully')
export const LeadRestored = done('Lead restored successfully')

export const LeadUpdatedResponse = Type.Object({
  success,
  message: message({ description: '`Lead updated successfully` or `No changes detected`.' }),
  data: UpdatedLead,
  lead: UpdatedLead,
})

export const LeadDeleted = Type.Object({ success, message: message({ example: 'Lead deleted successfully' }) })

const dryRunEcho = Type.Optional(Type.Boolean({ description: 'True if this was a dry run; otherwise absent.' }))

export const LeadUpserted = Type.Object({
  success,
  action: oneOf(['created', 'updated']),
  data: Lead,
  lead: Lead,
  dryRun: dryRunEcho,
})

const dryRun = Type.Optional(
  Type.Boolean({ description: 'Returns what would happen, without writing anything or using quota.' }),
)

const customParameters = {
  '^k_': Type.String({
    maxLength: maxTextLength,
    description: 'A custom field. The key has at most 40 characters including `k_`, the value at most 255.',
  }),
}

const parameters = { patternProperties: customParameters, additionalProperties: false } as const

/** Query of a route that accepts custom fields as `k_*` parameters. */
export const CustomParameters = Type.Unsafe<Record<string, string>>({ type: 'object', ...parameters })
export const UpsertQuery = Type.Unsafe<{ dryRun?: boolean } & Record<string, unknown>>({
  ...Type.Object({ dryRun }),
  ...parameters,
})
export const BulkQuery = Type.Object({ dryRun }, { additionalProperties: false })

export const BulkBody = Type.Object(
  {
    items: Type.Array(publishedAs(UpsertBody), {
      maxItems: 100,
      description:
        'At most 100 upserts, processed in order; a later item sees the changes of earlier ones. Each item is validated separately.',
    }),
    options: Type.Optional(
      Type.Object(
        {
          continueOnError: Type.Optional(
            Type.Boolean({
              description: 'Default true. If false, processing stops at the first failure, which is the last result.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

const batchCount = (description?: string) =>
  Type.Integer({ minimum: 0, maximum: 100, ...(description === undefined ? {} : { description }) })

export const BulkResult = Type.Object({
  success: Type.Boolean({ description: 'True when no item failed.' }),
  processed: batchCount('Number of results.'),
  created: batchCount(),
  updated: batchCount(),
  failed: batchCount(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, maximum: 99, description: 'Position of the item, from 0.' }),
      match: Type.Unsafe<unknown>({ description: 'The matcher as sent.' }),
      success: Type.Boolean(),
      action: Type.Optional(oneOf(['created', 'updated'])),
      lead: Type.Optional(Lead),
      error: Type.Optional(
        Type.Object({
          statusCode: Type.Integer({ minimum: 400, maximum: 599 }),
          statusMessage: Type.String({ maxLength: maxMessageLength }),
          data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
        }),
      ),
    }),
    page,
  ),
  dryRun: dryRunEcho,
})

export const NoQuery = Type.Object({}, { additionalProperties: false })

export const LeadId = Type.Object({ id: Type.String({ maxLength: 255, description: 'The `id` of the deleted lead.' }) })
