import { type Static, Type } from 'typebox'
import { oneOf, titled } from '../../base/route.ts'
import { text, visible } from '../../base/schema-types.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { maxKeyLength, maxTextLength } from '../lead/custom-fields.ts'
import { leadFieldTypes } from './field-types.ts'
import { fieldPlaces, type LeadField } from './lead-fields.ts'

const key = text(
  maxKeyLength,
  'The key of the custom field in leads: lowercase snake_case, a letter first. It never changes; as a column, a sort and a filter it is `field:<key>`.',
  { minLength: 1, example: 'cidade' },
)
const label = Type.String({
  minLength: 1,
  maxLength: 80,
  pattern: visible,
  description: 'What people read; unique in the workspace, whatever its case.',
  example: 'Cidade',
})
const type = oneOf(leadFieldTypes, {
  title: 'LeadFieldType',
  description:
    "What people may write into it. `amount` is a number with at most two decimals, in the workspace's currency; `select` is one of the choices, `multiselect` several; dates are `2026-01-31`. API keys write whatever the contract takes; what leads have already stays when this changes.",
})
const choices = Type.Array(Type.String({ maxLength: maxTextLength }), {
  maxItems: 100,
  description: 'Of `select` and `multiselect`: what can be chosen. Choices of a `multiselect` hold no comma.',
  example: ['Recife', 'Natal'],
})
const required = Type.Boolean({
  description: 'Whether people must fill it when they make a lead, and may not empty it.',
})
const shownIn = Type.Array(oneOf(fieldPlaces, { title: 'LeadFieldPlace' }), {
  maxItems: fieldPlaces.length,
  uniqueItems: true,
  description: 'Where people meet it unless they choose otherwise: beside a lead, as a column, in new leads and forms.',
})

const definition = { label, type, choices, required, shownIn }

export const LeadFieldDefinition = titled('LeadField', {
  id: idSchema('The field.'),
  key,
  ...definition,
  isArchived: Type.Boolean({ description: 'Put away: offered nowhere, and held to by nobody. Values stay in leads.' }),
})

const { choices: _c, required: _r, shownIn: _s, ...needed } = definition
export const NewLeadField = Type.Object(
  { key, ...needed, ...Type.Partial(Type.Object({ choices, required, shownIn })).properties },
  { ...closed, title: 'NewLeadField', example: { key: 'cidade', label: 'Cidade', type: 'text' } },
)
export type NewLeadField = Static<typeof NewLeadField>

export const LeadFieldPatch = Type.Partial(
  Type.Object({ ...definition, isArchived: LeadFieldDefinition.properties.isArchived }),
  { ...closed, title: 'LeadFieldChanges', minProperties: 1, example: { label: 'City' } },
)
export type LeadFieldPatch = Static<typeof LeadFieldPatch>

export function presentLeadField(field: LeadField): Static<typeof LeadFieldDefinition> {
  return {
    id: field.id,
    key: field.key,
    label: field.label,
    type: field.type,
    choices: field.choices,
    required: field.required,
    shownIn: field.shown_in,
    isArchived: field.archived_at !== null,
  }
}
