import type { Issue } from '../../base/errors.ts'
import { lengthProblem } from '../../base/text/external-text.ts'
import { choiceSeparator } from '../../leads/fields/lead-fields.ts'
import {
  type CustomField,
  fieldsFromParameters,
  keyProblem,
  maxCustomFields,
  maxLengthOf,
  maxTextLength,
  valueProblem,
} from '../../leads/lead/custom-fields.ts'
import { type LeadPatch, parseLeadPatch } from '../../leads/lead/input.ts'
import type { LeadChanges } from '../../leads/lead/schema.ts'
import { clickIds, maxTouchText } from '../../leads/sources/attribution.ts'
import { consentField, decoyField, isLeadField, type PublicForm, tokenField } from '../form/form.ts'
import type { FormDefinition, FormField } from '../form/schema.ts'

/** An answer, as the team sees it with the form. */
export interface Answer {
  key: string
  label: string
  value: string | boolean
}

export interface Submission {
  patch: LeadPatch
  /** In the order of the form, followed by URL parameters. */
  answers: Answer[]
  /** Whether the box for marketing messages was ticked. An empty box says nothing. */
  optsIn: boolean
  /** At most one per field; its path is the field's key. */
  issues: Issue[]
}

const maxIssues = 20

/**
 * Converts a form submission and the URL parameters into a lead to create. Pages of other sites may send inputs of
 * their own, which are ignored unless `refuseUnknown`.
 */
export function parseSubmission(
  form: PublicForm,
  body: RawFields,
  query: RawFields,
  refuseUnknown: boolean,
): Submission {
  const issues = [...parameterIssues(body), ...(refuseUnknown ? unknownFields(form, body) : [])]
  const changes: Record<string, string> = { source: form.source, status: form.status }
  const typed: CustomField[] = []
  const answers: Answer[] = []
  for (const field of form.fields) {
    const { value, problem } = parseValue(field, body[field.key])
    if (problem !== null) issues.push({ path: field.key, message: problem })
    if (problem !== null || value === '') continue
    answers.push({ key: field.key, label: field.label, value })
    if (field.key === consentField) continue
    if (isLeadField(field.key)) changes[field.key] = String(value)
    else typed.push({ key: field.key, label: field.label, type: field.type, value })
  }
  const parameters = fitParameters(readParameters({ ...query, ...body }), typed.length)
  const parsed = parseLeadPatch(changes as LeadChanges, [...typed, ...parameters.fields], {
    ...form.leadSettings,
    at: '',
  })
  answers.push(...parameters.fields.map(({ key, label, value }) => ({ key, label, value })))
  return {
    patch: parsed.patch,
    answers,
    optsIn: answers.some(({ key, value }) => key === consentField && value === true),
    issues: [...issues, ...parameters.issues, ...parsed.issues].slice(0, maxIssues),
  }
}

function parameterIssues(body: RawFields): Issue[] {
  return Object.entries(body)
    .filter(([name, value]) => isParameter(name) && typeof value !== 'string')
    .map(([name, value]) => ({
      path: name,
      message: Array.isArray(value) ? 'is given more than once' : 'must be a string',
    }))
}

function unknownFields(form: PublicForm, body: RawFields): Issue[] {
  const known = new Set([...form.fields.map((field) => field.key), tokenField, decoyField])
  return Object.keys(body)
    .filter((name) => !known.has(name) && !isParameter(name) && !isClickId(name))
    .map((name) => ({ path: name, message: 'is not a known field' }))
}

interface FieldValue {
  /** Empty if nothing was entered. */
  value: string | boolean
  problem: string | null
}

const validValue = (value: string | boolean): FieldValue => ({ value, problem: null })
const invalidValue = (problem: string): FieldValue => ({ value: '', problem })

function parseValue(field: FormField, raw: unknown): FieldValue {
  if (field.type === 'boolean') return parseTick(field, raw)
  if (field.type === 'multiselect') return parseChoices(field, raw)
  if (Array.isArray(raw)) return invalidValue('is given more than once')
  if (raw !== undefined && raw !== null && !['string', 'number'].includes(typeof raw))
    return invalidValue('must be a string')
  const text = cleanText(String(raw ?? ''))
  // Checked before parsing, because a stranger's input may be as long as the body limit. Notes are always limited as
  // notes.
  const problem = lengthProblem(text, maxLengthOf(field.key === 'notes' ? 'textarea' : field.type))
  if (problem !== null) return invalidValue(problem)
  const value = normalizeSpelling(field, text)
  if (value === '') return field.required ? invalidValue('is required') : validValue('')
  if (field.type === 'select' && !field.options?.includes(value)) return invalidValue('must be one of the options')
  return validValue(value)
}

// Browsers do not send unticked boxes.
function parseTick(field: FormField, raw: unknown): FieldValue {
  const ticked = isTicked(raw)
  const isEmpty = raw === undefined || raw === null || raw === false || ['false', 'off', '0', ''].includes(String(raw))
  if (!ticked && !isEmpty) return invalidValue('must be true or false')
  return field.required && !ticked ? invalidValue('is required') : validValue(ticked)
}

export const isTicked = (raw: unknown): boolean => raw === true || raw === 'true' || raw === 'on' || raw === '1'

function parseChoices(field: FormField, raw: unknown): FieldValue {
  const submitted: unknown[] = [raw ?? []].flat()
  if (!submitted.every((choice) => typeof choice === 'string')) return invalidValue('must be a list of strings')
  const problem = lengthProblem(submitted.join(','), maxLengthOf('multiselect'))
  if (problem !== null) return invalidValue(problem)
  const choices = new Set(submitted.flatMap((choice) => choice.split(',')).map(cleanText))
  choices.delete('')
  const options = field.options ?? []
  if ([...choices].some((choice) => !options.includes(choice))) return invalidValue('must be some of the options')
  if (choices.size === 0) return field.required ? invalidValue('is required') : validValue('')
  return validValue(options.filter((option) => choices.has(option)).join(choiceSeparator))
}

/** Normalizes unambiguous spellings such as `12,5` and `example.com`. */
function normalizeSpelling({ type }: FormField, value: string): string {
  if (type === 'number') return value.replace(/^(-?\d+),(\d+)$/, '$1.$2')
  if (type === 'url' && startsWithHost(value)) return `https://${value}`
  return value
}

function startsWithHost(value: string): boolean {
  const [name = ''] = /^[^\s:/]+(?=\/|$)/.exec(value) ?? []
  const dot = name.indexOf('.', 1)
  return dot > 0 && dot < name.length - 1
}

function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trim()
}

export type RawFields = Readonly<Record<string, unknown>>

function isParameter(name: string): boolean {
  return /^(k|utm)_/.test(name)
}

/**
 * Returns the `k_*` parameters as custom fields, followed by each `utm_*` one as `k_utm_*`. Campaigns tag links freely,
 * so an invalid tag is cut or omitted where a `k_*` would be refused.
 */
export function readParameters(raw: RawFields): CustomField[] {
  const named = fieldsFromParameters(raw)
  const utm = Object.entries(raw)
    .filter(([name, value]) => name.startsWith('utm_') && typeof value === 'string' && raw[`k_${name}`] === undefined)
    .map(([name, value]) => [`k_${name}`, value])
  const fields = [...named, ...fieldsFromParameters(Object.fromEntries(utm))]
  const tags = fields.filter(isTag).flatMap((field) => (keyProblem(field.key) === null ? [truncate(field)] : []))
  return [...fields.filter((field) => !isTag(field)), ...tags.sort((a, b) => rankOf(a) - rankOf(b))]
}

/** Returns the parameters that fit besides `taken` other custom fields, with an issue for each `k_*` that does not. */
function fitParameters(parameters: readonly CustomField[], taken: number): { fields: CustomField[]; issues: Issue[] } {
  const available = Math.max(0, maxCustomFields - taken)
  const issues = parameters
    .slice(available)
    .filter((field) => !isTag(field))
    .map(({ key }) => ({ path: key, message: `is too much: a lead has at most ${maxCustomFields} custom fields` }))
  return { fields: parameters.slice(0, available), issues }
}

/**
 * Returns the parameters that a form's page submits from its URL. Omits parameters that could not be stored, because
 * the person who fills in the form could not correct them.
 */
export function carriedParameters(form: Pick<FormDefinition, 'fields'>, raw: RawFields): CustomField[] {
  const storable = readParameters(raw).filter(
    ({ key, value }) => (keyProblem(key) ?? valueProblem('text', value)) === null,
  )
  return fitParameters(storable, form.fields.filter((field) => !isLeadField(field.key)).length).fields
}

const isClickId = (name: string): boolean => clickIds.some((one) => one === name)

/** Returns the click ids of ads in the address of a page, which its form submits for the attribution of the lead. */
export const carriedClickIds = (raw: RawFields): CustomField[] =>
  clickIds.flatMap((key) => {
    const value = raw[key]
    return typeof value !== 'string' || value === '' || value.length > maxTouchText
      ? []
      : [{ key, label: key, type: 'text' as const, value }]
  })

function isTag(field: CustomField): boolean {
  return field.key.startsWith('k_utm_')
}

function truncate(field: CustomField): CustomField {
  return { ...field, value: [...String(field.value).slice(0, 2 * maxTextLength)].slice(0, maxTextLength).join('') }
}

const utmPriority = ['k_utm_source', 'k_utm_medium', 'k_utm_campaign', 'k_utm_content', 'k_utm_term']

function rankOf(field: CustomField): number {
  const index = utmPriority.indexOf(field.key)
  return index === -1 ? utmPriority.length : index
}
