import type { Issue } from '../../base/errors.ts'
import {
  type CustomFieldType,
  keyProblem,
  maxCustomFields,
  maxTextLength,
  valueProblem,
} from '../../leads/lead/custom-fields.ts'
import {
  decoyField,
  type FormDefinition,
  type FormField,
  hasOptions,
  isLeadField,
  leadFieldTypes,
  optionSeparator,
} from './form.ts'

/** Every rule of a definition that a schema cannot say. */
export function definitionIssues(form: FormDefinition): Issue[] {
  return [...fieldsIssues(form.fields), ...redirectIssues(form.redirectUrl), ...originsIssues(form.allowedOrigins)]
}

function fieldsIssues(fields: readonly FormField[]): Issue[] {
  const issues = fields.flatMap((field, index) => fieldIssues(field, `fields[${index}]`))
  const repeated = fields.findIndex((field, index) => fields.findIndex(({ key }) => key === field.key) < index)
  if (repeated >= 0) issues.push({ path: `fields[${repeated}].key`, message: 'is given more than once' })
  if (!fields.some((field) => field.key === 'firstName' && field.required)) {
    issues.push({ path: 'fields', message: 'must have a required firstName, which every lead needs' })
  }
  if (fields.filter((field) => !isLeadField(field.key)).length > maxCustomFields) {
    issues.push({ path: 'fields', message: `must have at most ${maxCustomFields} fields beside the lead's own` })
  }
  return issues
}

function fieldIssues(field: FormField, at: string): Issue[] {
  const problems: [part: string, problem: string | null][] = [
    ['key', isLeadField(field.key) ? null : customKeyProblem(field.key)],
    ['type', typeProblem(field)],
    ['label', field.label.trim() === '' ? 'must not be empty' : null],
    ['options', optionsProblem(field)],
  ]
  return problems.flatMap(([part, message]) => (message === null ? [] : [{ path: `${at}.${part}`, message }]))
}

// Under these names the lead has fields of its own, which a custom field would only shadow.
const reserved = ['first_name', 'last_name', 'email', 'phone', 'notes', decoyField]

function customKeyProblem(key: string): string | null {
  if (reserved.includes(key)) return 'is reserved: take another, or one of firstName, lastName, email, phone, notes'
  if (/^(k|utm)_/.test(key)) return 'must not start with k_ or utm_, which belong to the parameters of the address'
  return keyProblem(key)
}

function typeProblem({ key, type }: FormField): string | null {
  if (!isLeadField(key)) return null
  const types: readonly CustomFieldType[] = leadFieldTypes[key]
  return types.includes(type) ? null : `must be ${types.join(' or ')} for ${key}`
}

function optionsProblem(field: FormField): string | null {
  const options = field.options ?? []
  if (!hasOptions(field)) return options.length === 0 ? null : 'are for select and multiselect only'
  if (options.length === 0) return 'must have at least one option'
  if (new Set(options).size < options.length) return 'must differ from each other'
  if (options.some((option) => option.trim() !== option || option === '')) return 'must not be empty or padded'
  if (options.some((option) => option.length > maxTextLength)) return `must have at most ${maxTextLength} characters`
  if (field.type === 'select') return null
  if (options.some((option) => option.includes(','))) return 'must hold no comma, which separates the chosen ones'
  return valueProblem('multiselect', options.join(optionSeparator)) === null ? null : 'are too long together'
}

function redirectIssues(url: string | null): Issue[] {
  const fits = url === null || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
  return fits ? [] : [{ path: 'redirectUrl', message: 'must be an http or https address' }]
}

function originsIssues(origins: readonly string[]): Issue[] {
  return origins.flatMap((origin, index) =>
    isOrigin(origin)
      ? []
      : [{ path: `allowedOrigins[${index}]`, message: 'must be an origin such as https://example.com, or *' }],
  )
}

function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text)
}
