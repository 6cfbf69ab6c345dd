import { type Static, type TSchema, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import {
  count,
  cursor,
  day,
  fileText,
  leadStatus,
  text as limited,
  maxHeadBytes,
  page as ofPage,
  unpaged,
  uuid,
  visible,
} from '../../base/schema-types.ts'
import { type CustomFieldType, customFieldTypes, maxTextLength } from '../../leads/lead/custom-fields.ts'
import { sources } from '../../leads/lead/lead.ts'

const text = (description: string, maxLength: number, minLength = 0) =>
  Type.String({ description, maxLength, ...(minLength > 0 ? { minLength, pattern: visible } : {}) })

// Far above what the definitions of forms can add up to.
const maxPageLength = 1_000_000

const slug = Type.String({
  maxLength: 60,
  pattern: '^[a-z0-9-]{3,60}$',
  description:
    "Last part of the public address, unique in the instance: 3 to 60 of a-z, 0-9 and -. Addresses stay the workspace's for good: after a change the old one goes on to lead to the form, and that of a deleted form is free for forms of the workspace alone.",
})

/** The fields of a lead itself that a form can ask for, with the types they can be shown as. */
export const leadFieldTypes = {
  firstName: ['text'],
  lastName: ['text'],
  email: ['email'],
  phone: ['phone'],
  notes: ['textarea', 'text'],
} as const satisfies Record<string, readonly CustomFieldType[]>

const NewFormField = Type.Object(
  {
    key: Type.String({
      maxLength: 255,
      description: `\`${Object.keys(leadFieldTypes).join('`, `')}\`, or the key of a custom field: at most 40 characters, lowercase snake_case, a letter first, not starting with \`k_\` or \`utm_\`.`,
    }),
    label: text('What people read above the input; kept as the label of the custom field.', 200, 1),
    type: oneOf(customFieldTypes, {
      title: 'CustomFieldType',
      description:
        '`text` for names, `email` for email, `phone` for phone, `textarea` or `text` for notes; any for custom fields.',
    }),
    required: Type.Boolean({ default: false, description: 'A required `boolean` must be ticked.' }),
    options: Type.Optional(
      Type.Array(Type.String({ maxLength: maxTextLength }), {
        maxItems: 100,
        description: 'Of `select` and `multiselect`: what can be chosen. Options of a `multiselect` hold no comma.',
      }),
    ),
    placeholder: Type.Optional(text('Shown in the empty input.', 200)),
    help: Type.Optional(text('A line below the label.', 500)),
  },
  { title: 'NewFormField', additionalProperties: false },
)
export type FormField = Static<typeof NewFormField>
const FormField = titled('FormField', NewFormField.properties)

const Definition = Type.Object({
  slug,
  name: text('For the team, at most 100 characters.', 100, 1),
  title: text('Heading of the public page.', 200, 1),
  description: nullable(text('Shown below the heading; line breaks are kept.', 2000)),
  fields: Type.Array(NewFormField, {
    minItems: 1,
    maxItems: 15,
    description:
      "In the order shown. A required `firstName` must be among them; at most 10 beside the lead's own fields.",
  }),
  submitLabel: text('Text of the button.', 60, 1),
  thankYou: text('Shown after the form was sent; line breaks are kept.', 2000, 1),
  redirectUrl: nullable(text('Where people go instead of the thank-you page: http or https.', 2000)),
  allowedOrigins: Type.Array(Type.String({ maxLength: 300 }), {
    maxItems: 50,
    description: 'Other sites that may post here or frame the page, `https://example.com`; `*` is any.',
  }),
  source: oneOf(sources, { title: 'LeadSource', description: 'Source of the leads.' }),
  status: leadStatus('Status that the leads start with.'),
  active: Type.Boolean({ description: 'An inactive form answers 404 to the public.' }),
})
/** What the team decides about a form. */
export type FormDefinition = Static<typeof Definition>

const example = {
  name: 'Website contact',
  title: 'Talk to us',
  fields: [
    { key: 'firstName', label: 'Name', type: 'text', required: true },
    { key: 'email', label: 'E-mail', type: 'email', required: true },
    { key: 'company_size', label: 'Company size', type: 'select', required: false, options: ['1 to 10', 'over 10'] },
  ],
}

const { name, title, fields } = Definition.properties
export const NewForm = Type.Object(
  { ...Type.Partial(Definition).properties, name, title, fields },
  { title: 'NewForm', additionalProperties: false, example },
)
export type NewForm = Static<typeof NewForm>

export const FormChanges = Type.Partial(Definition, {
  additionalProperties: false,
  example: { submitLabel: 'Write to us' },
})
export type FormChanges = Static<typeof FormChanges>

export const Form = titled('Form', {
  id: uuid('The form.'),
  ...Definition.properties,
  fields: Type.Array(FormField, { maxItems: 15, description: 'In the order shown.' }),
  url: limited(2000, 'The public page.'),
  embedHtml: limited(maxPageLength, "A form for another site's page; allow that site's origin."),
  createdAt: timestamp('When the form was made.'),
  updatedAt: timestamp('When it last changed.'),
})

export const OneForm = Type.Object({ form: Form }, { description: 'The form.' })
export const ListedForm = titled('ListedForm', {
  ...Form.properties,
  submissionCount: count('How often it was sent.'),
  lastSubmissionAt: nullable(timestamp('When it was last sent.')),
})
export const FormList = Type.Object({ forms: Type.Array(ListedForm, unpaged) }, { description: 'The forms.' })
export const Deleted = Type.Object(
  { success: Type.Boolean(), message: limited(200, 'What was done.') },
  { description: 'Deleted.' },
)

export const Workspace = Type.Object({ workspaceId: uuid() })
export const WorkspaceForm = Type.Object({
  workspaceId: uuid(),
  formId: uuid(),
})
export const NoQuery = Type.Object({}, { additionalProperties: false })

export const SubmissionsQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'At most 100.' }),
    cursor: Type.Optional(cursor('`nextCursor` of the page before.')),
  },
  { additionalProperties: false },
)

const answers = Type.Array(
  titled('FormAnswer', {
    key: limited(255, 'Of the field.', { example: 'company_size' }),
    label: limited(200, 'As the form named it then.', { example: 'Company size' }),
    value: Type.Unsafe<string | boolean>({
      type: ['string', 'boolean'],
      maxLength: 20_000,
      description: 'As it was sent; of a `boolean` field true or false.',
      example: '1 to 10',
    }),
  }),
  { maxItems: 100 },
)

export const SubmissionList = Type.Object(
  {
    submissions: Type.Array(
      Type.Object({
        id: uuid(),
        leadId: uuid(),
        submittedAt: timestamp('When the form was sent.'),
        lead: nullable(
          Type.Object(
            {
              name: limited(511, 'First and last name.', { example: 'Marina Duarte' }),
              status: leadStatus('Of the lead.', { example: 'new' }),
            },
            { description: 'The lead as it is now; null when it was deleted.' },
          ),
        ),
        answers: Type.Unsafe<Static<typeof answers> | null>({
          ...answers,
          type: ['array', 'null'],
          description:
            'What was filled in, in the order of the form, then what came with the address. Null when the lead was deleted, and for what was sent before answers were kept.',
        }),
      }),
      ofPage,
    ),
    nextCursor: nullable(cursor('For the next page; null at the end.')),
  },
  { description: 'One page of submissions.' },
)

export const SubmissionDaysQuery = Type.Object(
  {
    days: Type.Integer({ minimum: 1, maximum: 366, default: 30, description: 'Days up to today.' }),
    tz: Type.String({
      maxLength: 64,
      default: 'UTC',
      description: 'The time zone whose days are meant, by its IANA name.',
      example: 'America/Sao_Paulo',
    }),
  },
  { additionalProperties: false },
)

export const SubmissionDays = Type.Object(
  {
    total: count('Submissions of these days.'),
    days: Type.Array(
      Type.Object({
        date: day,
        submissions: count('How many there were.'),
      }),
      { maxItems: 366, description: 'Every day, the oldest first; the last is today.' },
    ),
  },
  { description: 'Submissions by day.' },
)

export const FormPreview = Type.Object(
  {
    page: limited(maxPageLength, 'The public page in HTML.'),
    thanks: limited(maxPageLength, 'The page after it was sent.'),
  },
  { description: 'The pages.' },
)

export const Slug = Type.Object({ slug: limited(255, "The form's slug.") })

export const Submission = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Key of a field to its value: a string, for `boolean` true or false, for `multiselect` a list of strings. `k_*` and `utm_*` names are taken as from the address.',
  example: { firstName: 'Marina', email: 'marina@example.com', company_size: '1 to 10' },
})

export const Submitted = Type.Object(
  {
    success: Type.Boolean({ example: true }),
    message: limited(2000, 'What the team says in thanks.', { example: 'Thank you! We will be in touch.' }),
    redirectUrl: nullable(limited(2000, 'Where the team wants people to go next.')),
  },
  { description: 'The form was sent.' },
)

export const Parameters = Type.Unsafe<Record<string, string>>({
  type: 'object',
  properties: {},
  patternProperties: {
    '^k_': {
      type: 'string',
      maxLength: maxHeadBytes,
      description: 'Becomes a custom field of the lead: at most 255 characters.',
    },
    '^utm_': {
      type: 'string',
      maxLength: maxHeadBytes,
      description: 'Becomes the custom field `k_utm_*`, cut to 255 characters.',
    },
  },
  description: 'Other parameters are passed over: links that people share gather them.',
})

export const Page = {
  description: 'The page.',
  content: { 'text/html': { schema: Type.String(fileText) } },
}

export const SentOn = Type.Null({
  description: 'A form-encoded post went well: on to the thank-you page or `redirectUrl`.',
})

/** Error answers that browsers get as a page. */
export function orPage(errors: Record<number, TSchema & { description?: string }>): object {
  const shown = Object.entries(errors).map(([status, schema]) => {
    const content = { 'application/json': { schema }, 'text/html': { schema: Type.String(fileText) } }
    return [status, { description: schema.description ?? '', content }]
  })
  return Object.fromEntries(shown)
}
