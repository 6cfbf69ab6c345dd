import type { Issue } from '../../base/errors.ts'
import {
  type CustomField,
  fieldsFromParameters,
  keyProblem,
  maxCustomFields,
  maxTextLength,
  valueProblem,
} from '../../leads/lead/custom-fields.ts'
import { type FormDefinition, isLeadField } from './form.ts'

export type RawFields = Readonly<Record<string, unknown>>

export function isParameter(name: string): boolean {
  return /^(k|utm)_/.test(name)
}

/**
 * The `k_*` parameters among the names as custom fields, each `utm_*` one as `k_utm_*` after them: campaigns tag
 * links as they like, so a tag that does not fit is cut or left out where a `k_*` would be refused.
 */
export function readParameters(raw: RawFields): CustomField[] {
  const named = fieldsFromParameters(raw)
  const utm = Object.entries(raw)
    .filter(([name, value]) => name.startsWith('utm_') && typeof value === 'string' && raw[`k_${name}`] === undefined)
    .map(([name, value]) => [`k_${name}`, value])
  const fields = [...named, ...fieldsFromParameters(Object.fromEntries(utm))]
  const tags = fields.filter(isTag).flatMap((field) => (keyProblem(field.key) === null ? [cut(field)] : []))
  return [...fields.filter((field) => !isTag(field)), ...tags.sort((a, b) => rankOf(a) - rankOf(b))]
}

/** The parameters that fit beside `taken` other custom fields; an issue for each `k_*` that does not. */
export function fitParameters(
  parameters: readonly CustomField[],
  taken: number,
): { fields: CustomField[]; issues: Issue[] } {
  const room = Math.max(0, maxCustomFields - taken)
  const issues = parameters
    .slice(room)
    .filter((field) => !isTag(field))
    .map(({ key }) => ({ path: key, message: `is too much: a lead has at most ${maxCustomFields} custom fields` }))
  return { fields: parameters.slice(0, room), issues }
}

/**
 * What the page of a form carries along from its address. A parameter that could not be stored stays behind, since
 * the person who fills the form could not mend it.
 */
export function carriedParameters(form: Pick<FormDefinition, 'fields'>, raw: RawFields): CustomField[] {
  const storable = readParameters(raw).filter(
    ({ key, value }) => (keyProblem(key) ?? valueProblem('text', value)) === null,
  )
  return fitParameters(storable, form.fields.filter((field) => !isLeadField(field.key)).length).fields
}

function isTag(field: CustomField): boolean {
  return field.key.startsWith('k_utm_')
}

function cut(field: CustomField): CustomField {
  return { ...field, value: [...String(field.value).slice(0, 2 * maxTextLength)].slice(0, maxTextLength).join('') }
}

const byWorth = ['k_utm_source', 'k_utm_medium', 'k_utm_campaign', 'k_utm_content', 'k_utm_term']

function rankOf(field: CustomField): number {
  const index = byWorth.indexOf(field.key)
  return index === -1 ? byWorth.length : index
}
