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
  visiblePattern,
} from '../../base/schema-types.ts'
import { type CustomFieldType, customFieldTypes, maxTextLength } from '../../leads/lead/custom-fields.ts'
import { sources } from '../../leads/lead/lead.ts'

const text = (description: string, maxLength: number, minLength = 0) =>
  Type.String({ description, maxLength, ...(minLength > 0 ? { minLength, pattern: visiblePattern } : {}) })

// Far more than a form definition can produce.
const maxPageLength = 1_000_000

const slug = Type.String({
  maxLength: 60,
  pattern: '^[a-z0-9-]{3,60}$',
  description:
    'Last part of the public URL, unique in the instance: 3 to 60 characters of a-z, 0-9 and -. A slug remains reserved for the workspace: after a change the old one still leads to the form, and the slug of a deleted form can only be reused in the same workspace.',
})

/** The lead's own fields that a form can contain, with their possible types. */
export const leadFieldTypes = {
  firstName: ['text'],
  lastName: ['text'],
  email: ['email'],
  phone: ['phone'],
  notes: ['textarea', 'text'],
  marketingConsent: ['boolean'],
} as const satisfies Record<string, readonly CustomFieldType[]>

const NewFormField = Type.Object(
  {
    key: Type.String({
      maxLength: 255,
      description: `\`${Object.keys(leadFieldTypes).join('`, `')}\`, or the key of a custom field: at most 40 characters, lowercase snake_case, starting with a letter, not starting with \`k_\` or \`utm_\`.`,
    }),
    label: text('Label above the input; stored as the label of the custom field.', 200, 1),
    type: oneOf(customFieldTypes, {
      title: 'CustomFieldType',
      description:
        '`text` for names, `email` for email, `phone` for phone, `textarea` or `text` for notes, `boolean` for marketingConsent; any for custom fields.',
    }),
    required: Type.Boolean({ default: false, description: 'A required `boolean` must be ticked.' }),
    options: Type.Optional(
      Type.Array(Type.String({ maxLength: maxTextLength }), {
        maxItems: 100,
        description: 'Options of a `select` or `multiselect`. Options of a `multiselect` must not contain a comma.',
      }),
    ),
    placeholder: Type.Optional(text('Shown in the empty input.', 200)),
    help: Type.Optional(text('Help text below the label.', 500)),
  },
  { title: 'NewFormField', additionalProperties: false },
)
export type FormField = Static<typeof NewFormField>
const FormField = titled('FormField', NewFormField.properties)

const Definition = Type.Object({
  slug,
  name: text('Internal name, at most 100 characters.', 100, 1),
  title: text('Heading of the public page.', 200, 1),
  description: nullable(text('Shown below the heading; line breaks are kept.', 2000)),
  fields: Type.Array(NewFormField, {
    minItems: 1,
    maxItems: 15,
    description:
      'Fields in the order shown. Must include a required `firstName`; at most 10 custom fields. Who ticks `marketingConsent` opts in to marketing messages, which needs a `phone`.',
  }),
  submitLabel: text('Text of the submit button.', 60, 1),
  thankYou: text('Shown after the form is sent; line breaks are kept.', 2000, 1),
  redirectUrl: nullable(text('URL opened instead of the thank-you page; http or https.', 2000)),
  allowedOrigins: Type.Array(Type.String({ maxLength: 300 }), {
    maxItems: 50,
    description:
      'Origins of other sites that can post to the form or frame the page, such as `https://example.com`; `*` for any.',
  }),
  source: oneOf(sources, { title: 'LeadSource', description: 'Source of the leads.' }),
  status: leadStatus('Initial status of the leads.'),
  active: Type.Boolean({ description: 'Whether the form is public. An inactive form returns 404.' }),
})
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
  fields: Type.Array(FormField, { maxItems: 15, description: 'Fields in the order shown.' }),
  url: limited(2000, 'URL of the public page.'),
  embedHtml: limited(
    maxPageLength,
    'HTML of the form for a page of another site, whose origin must be in `allowedOrigins`.',
  ),
  createdAt: timestamp('Creation time.'),
  updatedAt: timestamp('Time of the last change.'),
})

export const OneForm = Type.Object({ form: Form }, { description: 'The form.' })
export const ListedForm = titled('ListedForm', {
  ...Form.properties,
  submissionCount: count('Number of submissions.'),
  lastSubmissionAt: nullable(timestamp('Time of the last submission.')),
})
export const FormList = Type.Object({ forms: Type.Array(ListedForm, unpaged) }, { description: 'The forms.' })
export const Deleted = Type.Object(
  { success: Type.Boolean(), message: limited(200, 'Result.') },
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
    cursor: Type.Optional(cursor('`nextCursor` of the previous page.')),
  },
  { additionalProperties: false },
)

const answers = Type.Array(
  titled('FormAnswer', {
    key: limited(255, 'Key of the field.', { example: 'company_size' }),
    label: limited(200, 'Label at the time of submission.', { example: 'Company size' }),
    value: Type.Unsafe<string | boolean>({
      type: ['string', 'boolean'],
      maxLength: 20_000,
      description: 'Value as sent; true or false for a `boolean` field.',
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
        submittedAt: timestamp('Time of submission.'),
        lead: nullable(
          Type.Object(
            {
              name: limited(511, 'First and last name.', { example: 'Marina Duarte' }),
              status: leadStatus('Status of the lead.', { example: 'new' }),
            },
            { description: 'Current state of the lead; null if it was deleted.' },
          ),
        ),
        answers: Type.Unsafe<Static<typeof answers> | null>({
          ...answers,
          type: ['array', 'null'],
          description:
            'Answers in the order of the form, then the URL parameters. Null if the lead was deleted, and for submissions from before answers were stored.',
        }),
      }),
      ofPage,
    ),
    nextCursor: nullable(cursor('Cursor of the next page; null at the end.')),
  },
  { description: 'One page of submissions.' },
)

export const SubmissionDaysQuery = Type.Object(
  {
    days: Type.Integer({ minimum: 1, maximum: 366, default: 30, description: 'Number of days up to today.' }),
    tz: Type.String({
      maxLength: 64,
      default: 'UTC',
      description: 'IANA name of the time zone of the days.',
      example: 'America/Sao_Paulo',
    }),
  },
  { additionalProperties: false },
)

export const SubmissionDays = Type.Object(
  {
    total: count('Number of submissions in these days.'),
    days: Type.Array(
      Type.Object({
        date: day,
        submissions: count('Number of submissions.'),
      }),
      { maxItems: 366, description: 'Every day, oldest first; the last is today.' },
    ),
  },
  { description: 'Submissions by day.' },
)

export const FormPreview = Type.Object(
  {
    page: limited(maxPageLength, 'The public page in HTML.'),
    thanks: limited(maxPageLength, 'The thank-you page in HTML.'),
  },
  { description: 'The pages.' },
)

export const Slug = Type.Object({ slug: limited(255, "The form's slug.") })

export const Submission = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Maps the key of a field to its value: a string, true or false for `boolean`, a list of strings for `multiselect`. `k_*` and `utm_*` keys are treated like URL parameters.',
  example: { firstName: 'Marina', email: 'marina@example.com', company_size: '1 to 10' },
})

export const Submitted = Type.Object(
  {
    success: Type.Boolean({ example: true }),
    message: limited(2000, 'Thank-you text of the form.', { example: 'Thank you! We will be in touch.' }),
    redirectUrl: nullable(limited(2000, 'URL to open next.')),
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
      description: 'Becomes a custom field of the lead, at most 255 characters.',
    },
    '^utm_': {
      type: 'string',
      maxLength: maxHeadBytes,
      description: 'Becomes the custom field `k_utm_*`, cut to 255 characters.',
    },
  },
  description: 'Other parameters are ignored, because shared links collect them.',
})

export const Page = {
  description: 'The page.',
  content: { 'text/html': { schema: Type.String(fileText) } },
}

export const RedirectResponse = Type.Null({
  description: 'A form-encoded post succeeded: redirects to the thank-you page or `redirectUrl`.',
})

/** Adds an HTML variant to error responses, for browsers. */
export function withHtmlErrors(errors: Record<number, TSchema & { description?: string }>): object {
  const shown = Object.entries(errors).map(([status, schema]) => {
    const content = { 'application/json': { schema }, 'text/html': { schema: Type.String(fileText) } }
    return [status, { description: schema.description ?? '', content }]
  })
  return Object.fromEntries(shown)
}
