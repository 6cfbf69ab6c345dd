import { type Static, Type } from 'typebox'
import { maxPhoneLength } from '../../base/phone/phone.ts'
import { maxMessageLength, nullable, oneOf, publishedAs, timestamp, titled } from '../../base/route.ts'
import { count, cursor, leadStatus, page, uuid, visible } from '../../base/schema-types.ts'
import { customFieldTypes, maxKeyLength, maxLengthOf, maxTextLength } from './custom-fields.ts'
import { adPlatforms, priorities, sources } from './lead.ts'

const text = (description: string, options: object = {}) => Type.String({ description, ...options })

// What is around a name is cut off before the name is measured.
const untrimmed = { maxLength: 1000 }

const writable = {
  uniqueCode: text('Short code of the lead, 1 to 255 characters, unique in the workspace. Generated when not sent.', {
    minLength: 1,
    maxLength: 255,
    pattern: visible,
  }),
  externalRef: nullable(
    text("The caller's own reference, at most 255 characters, unique in the workspace. Null clears it.", {
      maxLength: 255,
    }),
  ),
  firstName: text('1 to 255 characters after trimming. The only field required on create. Sealed at rest.', untrimmed),
  lastName: nullable(text('At most 255 characters after trimming. Null clears it. Sealed at rest.', untrimmed)),
  email: nullable(
    text('At most 254 characters, kept as typed and compared in lower case. Null clears it. Sealed at rest.', {
      maxLength: 254,
    }),
  ),
  phone: nullable(
    text(
      'Phone with country code: 8 to 20 digits once formatting is removed, kept as digits. A national number is taken when the workspace has a default country. Null clears it. Sealed at rest.',
      { maxLength: maxPhoneLength },
    ),
  ),
  status: leadStatus('1 to 50 characters of a-z, 0-9 and _. Any transition is allowed; each is kept in the history.'),
  priority: oneOf(priorities, { title: 'LeadPriority', description: 'How pressing the lead is.' }),
  source: oneOf(sources, {
    title: 'LeadSource',
    description: 'Where the lead came from; `chat_app` is the chat application.',
  }),
  adPlatform: nullable(
    oneOf(adPlatforms, { title: 'AdPlatform', description: 'The advertising platform that brought the lead.' }),
  ),
  assignedTo: nullable(uuid('User handling the lead; a member of the workspace, else 400.')),
  estimatedValue: nullable(
    Type.Number({ minimum: 0, maximum: 999_999_999_999.99, description: 'At most two decimals. Null clears it.' }),
  ),
  actualValue: nullable(
    Type.Number({ minimum: 0, maximum: 999_999_999_999.99, description: 'At most two decimals. Null clears it.' }),
  ),
  notes: nullable(text('At most 10,000 characters. Null clears it. Sealed at rest.', { maxLength: 10_000 })),
}

// Of a custom field: that of `textarea`, which takes the most.
const longestValue = maxLengthOf('textarea')

const customFieldValues = Type.Record(
  Type.String(),
  Type.Unsafe<string | boolean | null>({ type: ['string', 'boolean', 'null'], maxLength: longestValue }),
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

const aliasOfActualValue = Type.Number({
  minimum: 0,
  maximum: 999_999_999_999.99,
  description: 'Alias of `actualValue`.',
})

const partial = Type.Partial(Type.Object(writable)).properties
const changes = {
  ...partial,
  value: Type.Optional(nullable(aliasOfActualValue)),
  customFieldValues: Type.Optional(customFieldValues),
  ...ignored,
}

/** Fields to set on a lead that is there, or on one that an upsert may create. */
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
  phone: nullable(text('8 to 20 digits with country code; masked for callers that see phones so.', { maxLength: 20 })),
  createdAt: timestamp('UTC, with milliseconds.'),
  updatedAt: timestamp('UTC, with milliseconds.'),
  deletedAt: nullable(timestamp('Always null: a deleted lead is not shown.')),
}

export const Lead = Type.Object(plain, { title: 'Lead', description: 'A lead.' })

export const CustomField = titled('CustomField', {
  key: text('The original key, with its `k_` where it came from a parameter.', { maxLength: maxKeyLength }),
  label: text('What people read; the key where none was given.', { maxLength: 200 }),
  type: oneOf(customFieldTypes, { title: 'CustomFieldType' }),
  value: Type.Unsafe<string | boolean>({
    type: ['string', 'boolean'],
    maxLength: longestValue,
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

/** The bodies of the lead events. */
export const LeadEvent = Type.Object(
  {
    ...plain,
    deletedAt: nullable(timestamp('Set in `lead.deleted` alone.')),
    ...customFields,
    previousStatus: Type.Optional(leadStatus('In `lead.updated`, when the status changed: what it was.')),
  },
  { title: 'LeadEvent', description: '`lead.*`: the lead as it was right after the change.' },
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
      Type.Boolean({ description: 'When not false and no lead matches, a lead is created.' }),
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
    cursor: Type.Optional(cursor('The `nextCursor` of the page before, unchanged, with the same filters and sort.')),
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
        'Finds leads whose name, e-mail, phone, uniqueCode or externalRef contains the text, whatever its case and accents. Under 3 characters it finds names that have exactly this word, and uniqueCodes and externalRefs that begin with it; in scripts without spaces between words, such as Chinese, any part as ever.',
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
    total: count('Exact count of leads that fit the filters.'),
    totalPages: nullable(count('Null in cursor mode.')),
    cursor: nullable(cursor('The cursor that was sent.')),
    nextCursor: nullable(cursor('Send it as `cursor` for the next page; null at the end.')),
  }),
})

/** Labels of the workspace that a lead has. */
export const labelIds = (description: string) => Type.Array(uuid(), { maxItems: 20, description, example: [] })

/** A lead as people see it, with what the team has put on it. */
export const TeamLead = titled('LabelledLead', {
  ...LeadDetail.properties,
  labelIds: labelIds('Its labels.'),
})

/** A page of leads for people, who see custom fields and labels in lists as well. */
export const TeamLeadList = Type.Object({
  leads: Type.Array(TeamLead, page),
  total: count('Exact count of leads that fit the filters.'),
  nextCursor: nullable(cursor('Send it as `cursor` for the next page; null at the end.')),
})

export const LeadFound = Type.Object({ success, data: LeadDetail })

export const LeadCreated = Type.Object({
  success,
  message: message({ example: 'Lead created successfully' }),
  data: Lead,
  lead: Lead,
})

export const LeadUpdatedAnswer = Type.Object({
  success,
  message: message({ description: '`Lead updated successfully` or `No changes detected`.' }),
  data: UpdatedLead,
  lead: UpdatedLead,
})

export const LeadDeleted = Type.Object({ success, message: message({ example: 'Lead deleted successfully' }) })

export const LeadRestored = Type.Object({
  success,
  message: message({ example: 'Lead restored successfully' }),
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
    maxLength: maxTextLength,
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
    items: Type.Array(publishedAs(UpsertBody), {
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

const ofBatch = (description?: string) =>
  Type.Integer({ minimum: 0, maximum: 100, ...(description === undefined ? {} : { description }) })

export const BulkResult = Type.Object({
  success: Type.Boolean({ description: 'True when no item failed.' }),
  processed: ofBatch('How many results there are.'),
  created: ofBatch(),
  updated: ofBatch(),
  failed: ofBatch(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0, maximum: 99, description: 'Position of the item, from 0.' }),
      match: Type.Unsafe<unknown>({ description: 'The matcher as it was sent.' }),
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
