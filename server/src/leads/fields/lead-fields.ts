import type { Sql } from '../../base/db.ts'
import { type Issue, unprocessable } from '../../base/errors.ts'
import { parsePhone } from '../../base/phone/phone.ts'
import { findWorkspace } from '../../workspaces/workspace.ts'
import type { CustomFieldType, NormalizeField } from '../lead/custom-fields.ts'
import { maxTextLength, valueProblem } from '../lead/custom-fields.ts'
import type { LeadPatch } from '../lead/input.ts'
import type { Lead, LeadUser } from '../lead/lead.ts'

export const leadFieldTypes = [
  'text',
  'number',
  'amount',
  'date',
  'select',
  'multiselect',
  'boolean',
  'url',
  'phone',
  'email',
] as const
export type LeadFieldType = (typeof leadFieldTypes)[number]

/** Short description of each type's format. */
export const formats: Record<LeadFieldType, string> = {
  text: `at most ${maxTextLength} characters`,
  number: 'a number such as "12.5"',
  amount: 'an amount such as "1500.50"',
  date: 'a date such as "2026-01-31"',
  select: 'one of options',
  multiselect: 'some of options, with commas between them',
  boolean: 'true or false',
  url: 'an http or https URL',
  phone: 'a phone number with country code',
  email: 'an e-mail address',
}

export interface FieldRule {
  type: LeadFieldType
  /** Allowed values of `select` and `multiselect`. */
  choices: readonly string[]
}

export type NormalizationResult = { value: string | boolean } | { problem: string }

/** Separator of the values of a `multiselect`. */
export const choiceSeparator = ', '

/** Returns the type that is stored: the contract has no type for amounts. */
export const storedType = (type: LeadFieldType): CustomFieldType => (type === 'amount' ? 'number' : type)

export const hasChoices = (type: LeadFieldType | CustomFieldType): boolean =>
  type === 'select' || type === 'multiselect'

/** Returns the value in stored form, or what is wrong with it and which format is expected. */
export function normalizeValue(
  { type, choices }: FieldRule,
  value: string | boolean,
  country: string | null,
): NormalizationResult {
  const stored = typeof value === 'string' ? value.trim() : value
  const problem = valueProblem(storedType(type), stored)
  if (problem !== null) return { problem }
  if (typeof stored === 'boolean') return { value: stored }
  if (type === 'amount') return normalizeAmount(stored)
  if (type === 'phone') return { value: parsePhone(stored, country ?? undefined) ?? stored }
  if (type === 'select')
    return choices.includes(stored) ? { value: stored } : { problem: `must be one of ${listChoices(choices)}` }
  return type === 'multiselect' ? normalizeChoices(stored, choices) : { value: stored }
}

function normalizeAmount(text: string): NormalizationResult {
  return /^\d{1,12}(\.\d{1,2})?$/.test(text)
    ? { value: text }
    : { problem: 'must be an amount of at most two decimals, such as 1500.50' }
}

function normalizeChoices(text: string, choices: readonly string[]): NormalizationResult {
  const chosen = new Set(text.split(',').map((choice) => choice.trim()))
  if ([...chosen].some((choice) => !choices.includes(choice)))
    return { problem: `must be some of ${listChoices(choices)}` }
  return { value: choices.filter((choice) => chosen.has(choice)).join(choiceSeparator) }
}

const maxListedChoices = 10

/** Returns the first choices, as listed in errors. */
export function listChoices(choices: readonly string[]): string {
  const first = choices.slice(0, maxListedChoices).map((choice) => choice.slice(0, 30))
  return `${first.join(', ')}${choices.length > maxListedChoices ? ' and others' : ''}`
}

/** Returns what is wrong with a list of choices, or null. */
export function choicesProblem(
  { type, choices }: { type: LeadFieldType | CustomFieldType; choices: readonly string[] },
  sameness = (choice: string) => choice.toLowerCase(),
): string | null {
  if (!hasChoices(type)) return choices.length === 0 ? null : 'are only allowed for select and multiselect'
  if (choices.length === 0) return 'must have at least one option'
  if (choices.some((choice) => choice.trim() !== choice || choice === '')) return 'must not be empty or padded'
  if (new Set(choices.map(sameness)).size < choices.length) return 'must differ from each other'
  if (choices.some((choice) => choice.length > maxTextLength)) return `must have at most ${maxTextLength} characters`
  if (type === 'select') return null
  if (choices.some((choice) => choice.includes(','))) return 'must not contain a comma, which separates chosen values'
  return valueProblem('multiselect', choices.join(choiceSeparator)) === null ? null : 'are too long together'
}

export const fieldLocations = ['panel', 'table', 'forms'] as const
type FieldLocation = (typeof fieldLocations)[number]

export interface LeadField {
  id: string
  key: string
  label: string
  type: LeadFieldType
  choices: string[]
  required: boolean
  shown_in: FieldLocation[]
  archived_at: Date | null
}

/** Returns all fields in their order, archived ones included. */
export async function listLeadFields(sql: Sql, workspaceId: string): Promise<LeadField[]> {
  return sql<LeadField[]>`
    select id, key, label, type, choices, required, shown_in, archived_at
    from lead_fields
    where workspace_id = ${workspaceId}
    order by place, id`
}

/** Returns the fields that are not archived, by key. */
export async function fieldsInUse(sql: Sql, workspaceId: string): Promise<ReadonlyMap<string, LeadField>> {
  const fields = await listLeadFields(sql, workspaceId)
  return new Map(fields.filter((field) => field.archived_at === null).map((field) => [field.key, field]))
}

/** Adds the workspace's field definitions to a member's patch. Reads nothing if the patch sets no custom fields. */
export async function withMemberRules(sql: Sql, user: LeadUser, patch: LeadPatch): Promise<LeadPatch> {
  if (Object.keys(patch.values).length === 0) return patch
  return {
    ...patch,
    fit: fieldNormalizer(await fieldsInUse(sql, user.workspaceId), user.defaultCountry, throwFieldProblem),
  }
}

/** Does the same for a lead that a member creates. Throws 422 if a required field is missing. */
export async function withNewLeadRules(sql: Sql, user: LeadUser, patch: LeadPatch): Promise<LeadPatch> {
  const fields = await fieldsInUse(sql, user.workspaceId)
  for (const field of fields.values()) {
    if (field.required && (patch.values[field.key] ?? '') === '') throwFieldProblem(field, requiredMessage)
  }
  return { ...patch, fit: fieldNormalizer(fields, user.defaultCountry, throwFieldProblem) }
}

/**
 * Adds the workspace's field definitions and statuses to an agent's patch. Required fields may be missing: an agent
 * knows only what the customer has said so far.
 */
export async function withAgentRules(
  sql: Sql,
  { workspaceId, defaultCountry }: LeadUser,
  patch: LeadPatch,
): Promise<LeadPatch> {
  const [fields, statuses] = await Promise.all([
    Object.keys(patch.values).length === 0 ? null : fieldsInUse(sql, workspaceId),
    patch.fields.status === undefined ? null : findWorkspace(sql, workspaceId).then((one) => one?.leadStatuses ?? []),
  ])
  return {
    ...patch,
    ...(fields !== null && { fit: fieldNormalizer(fields, defaultCountry, fieldProblem) }),
    ...(statuses !== null && { statuses }),
  }
}

/** Returns the keys of required fields that the lead does not have. */
export async function missingFields(sql: Sql, workspaceId: string, { customFields }: Lead): Promise<string[]> {
  const existingKeys = new Set(customFields.map(({ key }) => key))
  const fields = [...(await fieldsInUse(sql, workspaceId)).values()]
  return fields.filter(({ key, required: isRequired }) => isRequired && !existingKeys.has(key)).map(({ key }) => key)
}

function fieldNormalizer(
  fields: ReadonlyMap<string, LeadField>,
  country: string | null,
  onProblem: ProblemHandler,
): NormalizeField {
  return (key, value) => {
    const field = fields.get(key)
    if (field === undefined) return undefined
    const isEmpty = value === null || (typeof value === 'string' && value.trim() === '')
    if (isEmpty && field.required) return onProblem(field, requiredMessage)
    if (isEmpty) return null
    const normalized = normalizeValue(field, value, country)
    if ('problem' in normalized) return onProblem(field, normalized.problem)
    return { key, label: field.label, type: storedType(field.type), value: normalized.value }
  }
}

type ProblemHandler = (field: LeadField, problem: string) => Omit<Issue, 'path'>

const requiredMessage = 'is required for every lead in this workspace'

function throwFieldProblem({ key, label }: LeadField, problem: string): never {
  const named = `${label} ${problem}`
  throw unprocessable(named, { issues: [{ path: `customFieldValues.${key}`, message: problem }] })
}

const fieldProblem: ProblemHandler = ({ type, choices }, problem) =>
  hasChoices(type) && problem !== requiredMessage
    ? {
        message: type === 'select' ? 'must be one of the allowed options' : 'must be some of the allowed options',
        allowed: choices,
      }
    : { message: problem }
