import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { contentOf } from './template-components.ts'
import { buttonTypes, contentSchema, headerTypes } from './template-content.ts'
import type { TemplateDraft } from './template-drafts.ts'
import { findEditProblem, findTemplateProblems, templateLimits } from './template-rules.ts'
import { type ReviewedTemplate, type Template, templateHeaders, templateQualities } from './templates.ts'

// Maximum size of a platform's response.
const maxTemplateBytes = 8 * 1024 * 1024

export const inputsSchema = titled('TemplateInputs', {
  headerText: nullable(
    text(maxTemplateBytes, 'Header with the variable `{{1}}`, whose value a send provides in `header_param`.', {
      example: 'Order {{1}}',
    }),
  ),
  headerLocation: Type.Boolean({ description: 'A send provides `header_location`.' }),
  buttons: Type.Array(
    Type.Object({
      type: oneOf(['url', 'copy_code', 'otp'] as const, {
        description: '`otp`: the one-time password of the body, again.',
      }),
      text: text(maxTemplateBytes, 'Label of the button.', { example: 'Track order' }),
      url: nullable(text(maxTemplateBytes, 'With its variable.', { example: 'https://shop.example/{{1}}' })),
    }),
    { maxItems: 20, description: 'Buttons that need a value each: a send provides them in order in `button_params`.' },
  ),
})

const partsSchema = titled('TemplateParts', {
  header: Type.Object({
    type: oneOf(headerTypes, { description: 'What is above the text.' }),
    text: text(maxTemplateBytes, 'Its text, for `text`.', { example: 'Order {{1}}' }),
  }),
  footer: text(maxTemplateBytes, 'Small text below the body; empty without one.', { example: 'Shop Ltd.' }),
  buttons: Type.Array(
    Type.Object({
      type: oneOf(buttonTypes, { description: 'What it does.' }),
      text: text(maxTemplateBytes, 'Its label.', { example: 'Track order' }),
      value: text(maxTemplateBytes, 'URL or phone number.', { example: 'https://shop.example/{{1}}' }),
    }),
    { maxItems: 20 },
  ),
})

export const templateSchema = titled('ConnectionTemplate', {
  id: idSchema('The template.'),
  name: text(512, "The template's name on the platform.", { example: 'order_confirmation' }),
  language: text(512, 'Language code.', { example: 'pt_BR' }),
  category: text(512, 'As the platform writes it.', { example: 'UTILITY' }),
  status: text(512, 'As the platform writes it; only APPROVED templates can be sent.', { example: 'APPROVED' }),
  body: text(maxTemplateBytes, 'Body text with placeholders `{{1}}`, `{{2}}`, …', {
    example: 'Hi {{1}}, order {{2}} ships today.',
  }),
  parameterCount: count('Number of values that a send must provide.', { example: 2 }),
  parameterNames: nullable(
    Type.Array(text(maxTemplateBytes, 'Name on the platform.'), {
      maxItems: 1000,
      description: 'Names of the placeholders, in their order; null for positional ones.',
    }),
  ),
  header: nullable(
    oneOf(templateHeaders, {
      description:
        'Type of the file that a send must provide for the header. Null without such a header, and for templates that cannot be sent.',
    }),
  ),
  inputs: Type.Union([inputsSchema, Type.Null()], {
    description: 'What else a send must provide. Null if nothing, and for templates that cannot be sent.',
  }),
  sendable: Type.Boolean({ description: 'Approved, and needs only what a send can provide.' }),
  quality: nullable(
    oneOf(templateQualities, { description: 'How customers react to it. Null: the platform has not rated it yet.' }),
  ),
  rejectedReason: nullable(
    text(200, "The platform's reason of a rejection or another status.", { example: 'INVALID_FORMAT' }),
  ),
  reviewNote: nullable(text(1000, "The platform's explanation of its status and what it recommends.")),
  parts: Type.Union([partsSchema, Type.Null()], {
    description: 'Null if it has parts that cannot be shown here, such as a carousel.',
  }),
  editProblem: nullable(
    oneOf(['status', 'daily', 'monthly', 'foreign'] as const, {
      description:
        'Why it cannot be edited now: its status, one edit in 24 hours, 10 edits in 30 days, or parts that cannot be edited here.',
    }),
  ),
})

export function presentTemplate(one: ReviewedTemplate, now: Date): Static<typeof templateSchema> {
  const { id, name, language, category, status, body, parameterCount, parameterNames, header } = one
  const parts = one.components === null ? null : contentOf(one)
  const sendable = status === 'APPROVED' && (one.bodyOnly || header !== null || one.inputs !== null)
  const isForeign = parts === null && one.components !== null
  const editProblem = isForeign ? 'foreign' : findEditProblem(one, null, now)
  return {
    ...{ id, name, language, category, status, body, parameterCount, parameterNames, header, sendable },
    inputs: presentInputs(one),
    quality: one.quality,
    rejectedReason: one.rejectedReason,
    reviewNote: one.reviewNote,
    parts: parts && {
      header: { type: parts.header.type, text: parts.header.text },
      footer: parts.footer,
      buttons: parts.otp
        ? [{ type: 'copy_code', text: parts.otp.buttonText, value: '' }]
        : parts.buttons.map(({ type, text, value }) => ({ type, text, value })),
    },
    editProblem: editProblem as Static<typeof templateSchema>['editProblem'],
  }
}

export function presentInputs({ inputs }: Pick<Template, 'inputs'>): Static<typeof inputsSchema> | null {
  if (inputs === null) return null
  const buttons = (inputs.buttons ?? []).map(({ type, text, url }) => ({ type, text, url }))
  return { headerText: inputs.headerText?.text ?? null, headerLocation: inputs.headerLocation ?? false, buttons }
}

const problemSchema = Type.Object(
  {
    path: text(100, 'Path in the content.', { example: 'buttons[0].text' }),
    message: text(300, 'What is wrong and what to do.', { example: 'must have at most 25 characters' }),
    isWarning: Type.Boolean({ description: 'It can be submitted, but is likely to be refused in review.' }),
  },
  { title: 'TemplateProblem' },
)

export const draftSchema = titled('TemplateDraft', {
  id: idSchema('The draft.'),
  connectionId: idSchema('The connection.'),
  templateId: nullable(idSchema('The template that it changes; null for a new one.')),
  content: contentSchema,
  fileName: nullable(
    text(240, 'Name of the sample file of the header; empty without a name. Null: none is uploaded.', {
      example: 'menu.pdf',
    }),
  ),
  version: count('Send it back with a change.', { example: 3 }),
  isTried: Type.Boolean({ description: 'A submission was sent and its answer was lost: submit it again.' }),
  problems: Type.Array(problemSchema, { maxItems: 200, description: 'What the platform would refuse.' }),
  updatedAt: timestamp('Time of the last change.'),
})

export function presentDraft(draft: TemplateDraft): Static<typeof draftSchema> {
  const { id, connectionId, templateId, content, file, version, isTried, updatedAt } = draft
  return {
    ...{ id, connectionId, templateId, content, version, isTried },
    fileName: file === null ? null : (file.name ?? ''),
    problems: findTemplateProblems(content, file !== null),
    updatedAt: updatedAt.toISOString(),
  }
}

export const draftStartSchema = Type.Object(
  {
    connectionId: idSchema('A connection of the official platform.'),
    templateId: Type.Optional(idSchema('Begins with this template: as a change of it, or with `isCopy` as a new one.')),
    language: Type.Optional(text(20, 'Language of an empty one; default `en_US`.', { example: 'pt_BR' })),
    isCopy: Type.Optional(Type.Boolean({ description: 'Duplicates the template.' })),
  },
  { ...closed, title: 'NewTemplateDraft' },
)

export const draftChangeSchema = Type.Object(
  { content: contentSchema, version: count('Version that the change is based on.', { example: 3 }) },
  { ...closed, title: 'TemplateDraftChange' },
)

const limit = (what: string, example: number) => count(what, { example })

export const limitsSchema = titled('TemplateLimits', {
  name: limit('Characters of the name.', templateLimits.name),
  header: limit('Characters of a text header.', templateLimits.header),
  body: limit('Characters of the body.', templateLimits.body),
  footer: limit('Characters of the footer.', templateLimits.footer),
  buttonText: limit("Characters of a button's label.", templateLimits.buttonText),
  url: limit('Characters of a URL.', templateLimits.url),
  phone: limit('Characters of a phone number.', templateLimits.phone),
  code: limit('Characters of a code.', templateLimits.code),
  buttons: limit('Number of buttons.', templateLimits.buttons),
  sampleBytes: limit('Bytes of a sample file.', 16 * 1024 * 1024),
})
