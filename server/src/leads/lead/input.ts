import { InvalidInput, type Issue } from '../../base/errors.ts'
import type { LeadSettings } from '../../base/lead-settings.ts'
import { isKnownPhone, maskPhone, maxPhoneLength, parsePhone, phoneProblem } from '../../base/phone/phone.ts'
import { isBlank, lengthProblem } from '../../base/text/external-text.ts'
import { compileCheck, joinPath } from '../../base/validation.ts'
import { type CustomValues, emailPattern, type NormalizeField, type TypedField } from './custom-fields.ts'
import type { LeadFields } from './lead.ts'
import { type LeadChanges, UpsertBody } from './schema.ts'

/** Validated change of a lead: fields in stored form, and custom fields to set. */
export interface LeadPatch {
  fields: Partial<LeadFields>
  /**
   * Phone as sent. Stored digits sent back are no change, whatever the default country makes of them; nor is the mask
   * of the stored phone, which is not in `fields`.
   */
  phoneAsSent: string | null
  /** True if the sender sees masked leads, and may send masked values back. */
  masked?: boolean
  /** True if such a sender sets a phone, or a reference that may be a phone. */
  namesNumber?: boolean
  /** Typed custom fields from a form or `k_*` parameters. */
  typed: TypedField[]
  /** Custom field values from a body, typed by the existing fields. */
  values: CustomValues
  /** Field definitions of the workspace, which apply to changes by people. */
  fit?: NormalizeField
  /** Allowed statuses; absent if any is allowed. */
  statuses?: readonly string[]
  /** Text to append to the notes, unless they already contain it as a line. */
  appendNotes?: string
}

export interface ParseContext extends LeadSettings {
  /** True if the caller sees masked phones, and may send a mask back. */
  masked?: boolean
  /** Path of the fields in the request, for issues: `` or `lead` or `items[3].lead`. */
  at: string
}

/** Converts the fields of a body to stored form, and checks the rules that the schema cannot express. */
export function parseLeadPatch(
  body: LeadChanges,
  parameters: TypedField[],
  context: ParseContext,
): { patch: LeadPatch; issues: Issue[] } {
  const issues: Issue[] = []
  const reject = (field: string, message: string) => {
    issues.push({ path: joinPath(context.at, field), message })
  }
  const fields: Partial<LeadFields> = {}
  const { firstName, lastName, email, phone, value, actualValue, customFieldValues, ...rest } = body

  if (rest.uniqueCode !== undefined) fields.uniqueCode = rest.uniqueCode
  if (rest.externalRef !== undefined) fields.externalRef = rest.externalRef || null
  if (rest.status !== undefined) fields.status = rest.status
  if (rest.priority !== undefined) fields.priority = rest.priority
  if (rest.source !== undefined) fields.source = rest.source
  if (rest.adPlatform !== undefined) fields.adPlatform = rest.adPlatform
  if (rest.assignedTo !== undefined) fields.assignedTo = rest.assignedTo?.toLowerCase() ?? null
  if (rest.notes !== undefined) fields.notes = rest.notes || null

  if (firstName !== undefined) {
    const problem = isBlank(firstName) ? 'must not be empty' : lengthProblem(firstName.trim(), 255)
    if (problem === null) fields.firstName = firstName.trim()
    else reject('firstName', problem)
  }
  if (lastName !== undefined) {
    const trimmed = isBlank(lastName ?? '') ? null : (lastName?.trim() ?? null)
    const problem = lengthProblem(trimmed ?? '', 255)
    if (problem === null) fields.lastName = trimmed
    else reject('lastName', problem)
  }
  if (email !== undefined) {
    const problem = email ? emailProblem(email) : null
    if (problem === null) fields.email = email || null
    else reject('email', problem)
  }
  const isMask = context.masked === true && isPhoneMask(phone ?? '')
  if (phone !== undefined && !isMask) {
    const digits = phone ? parsePhone(phone, context.defaultCountry ?? undefined) : null
    if (phone && digits === null) reject('phone', phoneProblem(phone))
    else fields.phone = digits
  }
  const { estimatedValue } = rest
  if (estimatedValue !== undefined) {
    if (!isAmount(estimatedValue)) reject('estimatedValue', 'must have at most two decimals')
    else fields.estimatedValue = estimatedValue
  }
  if (value !== undefined && actualValue !== undefined && value !== actualValue) {
    reject('value', 'is an alias of actualValue; send only one of them, or the same value in both')
  }
  const actual = actualValue === undefined ? value : actualValue
  if (actual !== undefined) {
    if (!isAmount(actual)) reject(actualValue === undefined ? 'value' : 'actualValue', 'must have at most two decimals')
    else fields.actualValue = actual
  }
  const phoneAsSent = isMask || fields.phone ? (phone ?? null) : null
  const { masked = false, defaultCountry } = context
  const references = [fields.uniqueCode, fields.externalRef]
  const namesNumber =
    masked && (typeof fields.phone === 'string' || references.some((text) => containsPhone(text, defaultCountry)))
  const patch = { fields, phoneAsSent, masked, namesNumber, typed: parameters, values: customFieldValues ?? {} }
  return { patch, issues }
}

function emailProblem(email: string): string | null {
  return lengthProblem(email, 254) ?? (emailPattern.test(email) ? null : 'must be an e-mail address')
}

function isAmount(amount: number | null): boolean {
  return amount === null || Number(amount.toFixed(2)) === amount
}

/** Returns true if the text has the form of a phone masked by `maskPhone`. */
export function isPhoneMask(text: string): boolean {
  return /^(?:\d{5})?\*+\d{3}$/.test(text)
}

/** Returns true if the mask is not that of this phone: then it is an invalid phone, otherwise no change. */
export function isMaskOfOther(mask: string, phone: string | null): boolean {
  return phone === null || maskPhone(phone) !== mask
}

/**
 * Returns the phones that a lookup text may mean, the most likely first; empty if it is no phone. Responses contain
 * phones as bare digits with country code, so such digits mean that phone before a national number.
 */
export function parsePhones(text: string, defaultCountry: string | null): string[] {
  if (text.length > maxPhoneLength) return []
  const asStored = /^\d+$/.test(text) ? parsePhone(text) : null
  const asWritten = parsePhone(text, defaultCountry ?? undefined)
  return [...new Set([asStored, asWritten])].filter((digits) => digits !== null)
}

/** Returns true if a reference may be or contain a phone. A number that no numbering plan has is no phone. */
export function containsPhone(text: string | null | undefined, defaultCountry: string | null): boolean {
  const numbers = [text ?? '', ...(text?.match(digitRun) ?? [])]
  return numbers.some((number) => parsePhones(number, defaultCountry).some(isKnownPhone))
}

const digitRun = /\d{8,20}/g

export type MatchBy = 'id' | 'uniqueCode' | 'phone' | 'externalRef'

/** Validated upsert. `value` is canonical: digits of a phone, an id in lower case. */
export interface UpsertItem {
  by: MatchBy
  value: string
  /** Bare digits as sent, if the default country makes them another number. A lead with exactly these comes first. */
  storedDigits?: string
  patch: LeadPatch
  createIfMissing: boolean
  /** True if a masked caller looks up by a number or sets one. */
  namesNumber?: boolean
  /** Path of the lead's fields in the request. */
  at: string
}

const checkShape = compileCheck(UpsertBody)

/** Validates one upsert whose shape was checked. `at` is its path in the request: `` or `items[3]`. */
export function parseUpsert(
  body: UpsertBody,
  parameters: TypedField[],
  { at, ...parseContext }: ParseContext,
): UpsertItem | InvalidInput {
  const leadAt = joinPath(at, 'lead')
  const { patch, issues } = parseLeadPatch(body.lead, parameters, { ...parseContext, at: leadAt })
  const [value = null, storedDigits] = matchValues(body.match, parseContext.defaultCountry)
  const matchIssues: Issue[] =
    value === null ? [{ path: joinPath(at, 'match.value'), message: phoneProblem(body.match.value) }] : []
  if (value === null || issues.length > 0) return new InvalidInput([...matchIssues, ...issues])
  const { by } = body.match
  const namesNumber =
    parseContext.masked === true &&
    (patch.namesNumber === true || by === 'phone' || (by !== 'id' && containsPhone(value, parseContext.defaultCountry)))
  const item = { by, value, patch, createIfMissing: body.createIfMissing !== false, namesNumber, at: leadAt }
  return storedDigits === undefined ? item : { ...item, storedDigits }
}

/** Validates the shape and content of one batch item, so that an invalid item fails alone. */
export function parseBulkItem(
  item: unknown,
  context: ParseContext,
  parameters: TypedField[] = [],
): UpsertItem | InvalidInput {
  const issues = checkShape(item, context.at)
  return issues.length > 0 ? new InvalidInput(issues) : parseUpsert(item as UpsertBody, parameters, context)
}

/** Returns the canonical value, then the digits as sent if they may be a stored phone. Empty for an invalid phone. */
function matchValues({ by, value }: UpsertBody['match'], defaultCountry: string | null): string[] {
  if (by === 'phone') return parsePhones(value, defaultCountry).reverse()
  return [by === 'id' ? value.toLowerCase() : value]
}
