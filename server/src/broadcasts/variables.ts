import { createHash } from 'node:crypto'
import type { HeaderLocation } from '../channels/connector.ts'
import { isFileUrl } from '../channels/templates/template-inputs.ts'
import type { Template } from '../channels/templates/templates.ts'
import type { TemplateChoice } from '../inbox/send/send-schema.ts'
import type { Lead } from '../leads/lead/lead.ts'

/** Fields of a lead that can fill a variable of a template. */
export const leadVariables = [
  'firstName',
  'lastName',
  'fullName',
  'email',
  'phone',
  'status',
  'source',
  'estimatedValue',
  'actualValue',
  'uniqueCode',
  'externalRef',
] as const
type LeadVariable = (typeof leadVariables)[number]

/** What fills a variable: a field of the lead, a custom field by its key, or the same text for everyone. */
export interface Variable {
  from: 'field' | 'custom' | 'text'
  value: string
  /** For leads without the value; without it they are left out. */
  fallback?: string
}

/** A template and its values. */
export interface Variant {
  template: { name: string; language: string }
  /** Share of the recipients, in relation to the other variants. */
  weight: number
  body: Variable[]
  header: Variable | null
  /** Where the platform loads the file of the header: for everyone the same, or one for each. */
  file?: Variable | null
  location?: HeaderLocation | null
  buttons: Variable[]
}

/** Parses the name of a field of leads, or else the key of a custom field, with a fallback after a bar. */
export function parseVariable(text: string): Variable {
  const [name = '', ...rest] = text.split('|')
  const fallback = rest.join('|').slice(0, 255)
  const value = name.trim()
  const from = leadVariables.some((field) => field === value) ? 'field' : 'custom'
  return { from, value, ...(fallback !== '' && { fallback }) }
}

type VariableLead = Pick<Lead, 'customFields'> & { [K in Exclude<LeadVariable, 'fullName'>]: Lead[K] }

const maxValueLength = 1_000

/** Returns the value of a variable as the platform accepts it, on one line; null if the lead has none. */
export function variableText({ from, value, fallback = '' }: Variable, lead: VariableLead): string | null {
  const found = from === 'text' ? value : from === 'custom' ? customValue(lead, value) : fieldValue(lead, value)
  return onOneLine(found) || onOneLine(fallback) || null
}

const customValue = ({ customFields }: VariableLead, key: string): string =>
  String(customFields.find((field) => field.key === key)?.value ?? '')

function fieldValue(lead: VariableLead, name: string): string {
  if (name === 'fullName') return [lead.firstName, lead.lastName ?? ''].join(' ')
  const known = leadVariables.find((field) => field === name)
  if (known === undefined || known === 'fullName') return ''
  const value = lead[known]
  if (value === null) return ''
  return known === 'phone' ? `+${value}` : String(value)
}

const onOneLine = (text: string): string => text.slice(0, maxValueLength).split(/\s+/).join(' ').trim()

/** Returns the template with its values for a lead; null if the lead lacks one. */
export function fillVariant(variant: Variant, lead: VariableLead): TemplateChoice | null {
  const { template, body, header, file = null, location = null, buttons } = variant
  const values = (variables: readonly (Variable | null)[]) =>
    variables.map((variable) => variable && variableText(variable, lead))
  const [bodyValues, [header_param = null, header_url = null], buttonValues] = [
    values(body),
    values([header, file]),
    values(buttons),
  ]
  if ([...bodyValues, ...buttonValues].includes(null)) return null
  if (header !== null && header_param === null) return null
  if (file !== null && (header_url === null || !isFileUrl(header_url))) return null
  const present = (some: readonly (string | null)[]) => some.flatMap((value) => value ?? [])
  return {
    ...template,
    body_params: present(bodyValues),
    ...(header_param !== null && { header_param: header_param.slice(0, 255) }),
    ...(header_url !== null && { header_url }),
    ...(location !== null && { header_location: location }),
    ...(buttons.length > 0 && { button_params: present(buttonValues) }),
  }
}

/** Returns which variant a recipient gets: always the same for the same key, in shares of the weights. */
export function variantOf(key: string, variants: readonly Pick<Variant, 'weight'>[]): number {
  const total = variants.reduce((sum, { weight }) => sum + weight, 0)
  let rest = createHash('sha256').update(key).digest().readUInt32BE() % total
  return Math.max(
    0,
    variants.findIndex(({ weight }) => {
      rest -= weight
      return rest < 0
    }),
  )
}

/** Returns why a template cannot be sent with these variables; null if it can. */
export function variantProblem(variant: Variant, template: Template | undefined): string | null {
  const { body, header, file = null, location = null, buttons } = variant
  if (template === undefined) return 'names a template that this connection does not have'
  if (template.status !== 'APPROVED') return 'names a template that the platform has not approved'
  if (template.category.toUpperCase() === 'AUTHENTICATION')
    return 'names a template for codes, which are sent one by one'
  const { headerText, headerLocation = false, buttons: needed = [] } = template.inputs ?? {}
  if (!template.bodyOnly && template.inputs === null && template.header === null) {
    return 'names a template with parts that broadcasts cannot send'
  }
  if (body.length !== template.parameterCount) return `must have ${template.parameterCount} variables in its body`
  if ((header === null) !== (headerText === undefined)) return 'must have a variable in its header if its template has'
  if ((file === null) !== (template.header === null)) return 'must have the address of a file if its template has one'
  if (file?.from === 'text' && !isFileUrl(file.value)) return 'must have an https address of its file'
  if ((location !== null) !== headerLocation) return 'must have a location if its template has one'
  return buttons.length === needed.length ? null : `must have ${needed.length} variables in its buttons`
}
