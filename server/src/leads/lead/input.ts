import { InvalidInput, type Issue } from '../../base/errors.ts'
import type { LeadSettings } from '../../base/lead-settings.ts'
import { isKnownPhone, maskPhone, maxPhoneLength, phoneProblem, readPhone } from '../../base/phone/phone.ts'
import { isBlank, lengthProblem } from '../../base/text/external-text.ts'
import { compileCheck, joinPath } from '../../base/validation.ts'
import { type CustomValues, emailShape, type FitField, type TypedField } from './custom-fields.ts'
import type { LeadFields } from './lead.ts'
import { type LeadChanges, UpsertBody } from './schema.ts'

/** What a request wants a lead to become: stored forms of the fields it names, and custom fields to set. */
export interface LeadPatch {
  fields: Partial<LeadFields>
  /**
   * The phone as it was written: bare stored digits sent back are no change, whatever the default country makes of
   * them, and neither is the mask of the stored phone, which is not among `fields`.
   */
  phoneAsSent: string | null
  /** Whether who sends it sees leads masked, and so may send back what it read. */
  masked?: boolean
  /** Whether such a caller names a phone, or sets a reference that may be one. */
  namesNumber?: boolean
  /** Typed custom fields, from a form or from `k_*` parameters. */
  typed: TypedField[]
  /** Custom field values of a body, whose types are those of the fields they belong to. */
  values: CustomValues
  /** What the workspace says of its custom fields, to which people are held. */
  fit?: FitField
  /** The statuses that it may set; any where it is absent. */
  statuses?: readonly string[]
  /** What is added to the notes, unless it stands there. */
  appendNotes?: string
}

export interface ReadContext extends LeadSettings {
  /** Whether the caller sees phones masked, and so may send a mask back. */
  masked?: boolean
  /** Where the fields stand in the request, for the paths of issues: `` or `lead` or `items[3].lead`. */
  at: string
}

/** Brings the fields of a body into their stored form; every rule that a schema cannot say is checked here. */
export function readLeadPatch(
  body: LeadChanges,
  parameters: TypedField[],
  context: ReadContext,
): { patch: LeadPatch; issues: Issue[] } {
  const issues: Issue[] = []
  const refuse = (field: string, message: string) => {
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
    else refuse('firstName', problem)
  }
  if (lastName !== undefined) {
    const trimmed = isBlank(lastName ?? '') ? null : (lastName?.trim() ?? null)
    const problem = lengthProblem(trimmed ?? '', 255)
    if (problem === null) fields.lastName = trimmed
    else refuse('lastName', problem)
  }
  if (email !== undefined) {
    const problem = email ? emailProblem(email) : null
    if (problem === null) fields.email = email || null
    else refuse('email', problem)
  }
  const isMask = context.masked === true && isPhoneMask(phone ?? '')
  if (phone !== undefined && !isMask) {
    const digits = phone ? readPhone(phone, context.defaultCountry ?? undefined) : null
    if (phone && digits === null) refuse('phone', phoneProblem(phone))
    else fields.phone = digits
  }
  const { estimatedValue } = rest
  if (estimatedValue !== undefined) {
    if (!isAmount(estimatedValue)) refuse('estimatedValue', 'must have at most two decimals')
    else fields.estimatedValue = estimatedValue
  }
  if (value !== undefined && actualValue !== undefined && value !== actualValue) {
    refuse('value', 'is an alias of actualValue: send one of the two, or the same in both')
  }
  const actual = actualValue === undefined ? value : actualValue
  if (actual !== undefined) {
    if (!isAmount(actual)) refuse(actualValue === undefined ? 'value' : 'actualValue', 'must have at most two decimals')
    else fields.actualValue = actual
  }
  const phoneAsSent = isMask || fields.phone ? (phone ?? null) : null
  const { masked = false, defaultCountry } = context
  const references = [fields.uniqueCode, fields.externalRef]
  const namesNumber =
    masked && (typeof fields.phone === 'string' || references.some((text) => holdsPhone(text, defaultCountry)))
  const patch = { fields, phoneAsSent, masked, namesNumber, typed: parameters, values: customFieldValues ?? {} }
  return { patch, issues }
}

function emailProblem(email: string): string | null {
  return lengthProblem(email, 254) ?? (emailShape.test(email) ? null : 'must be an e-mail address')
}

function isAmount(amount: number | null): boolean {
  return amount === null || Number(amount.toFixed(2)) === amount
}

/** Whether the text is what `maskPhone` makes of some phone. */
export function isPhoneMask(text: string): boolean {
  return /^(?:\d{5})?\*+\d{3}$/.test(text)
}

/**
 * A caller who sees phones masked can send back a lead as it was read: the mask of the stored phone is no change, and
 * any other mask is no phone.
 */
export function isMaskOfOther(mask: string, phone: string | null): boolean {
  return phone === null || maskPhone(phone) !== mask
}

/**
 * The phones that a text may mean when a lead is looked up, the surest first; none when it is no phone. Answers show
 * phones as bare digits with country code, so such digits mean that phone before they mean a national number.
 */
export function readPhones(text: string, defaultCountry: string | null): string[] {
  if (text.length > maxPhoneLength) return []
  const asStored = /^\d+$/.test(text) ? readPhone(text) : null
  const asWritten = readPhone(text, defaultCountry ?? undefined)
  return [...new Set([asStored, asWritten])].filter((digits) => digits !== null)
}

/** Whether a reference may be or hold a phone: what no numbering plan has is a number of another kind. */
export function holdsPhone(text: string | null | undefined, defaultCountry: string | null): boolean {
  const numbers = [text ?? '', ...(text?.match(numberRun) ?? [])]
  return numbers.some((number) => readPhones(number, defaultCountry).some(isKnownPhone))
}

const numberRun = /\d{8,20}/g

export type MatchBy = 'id' | 'uniqueCode' | 'phone' | 'externalRef'

/** One upsert, read and ready. `value` is canonical: digits of a phone, an id in lower case. */
export interface UpsertItem {
  by: MatchBy
  value: string
  /** Bare digits that the default country makes another number of: a lead that has them as they are comes first. */
  storedDigits?: string
  patch: LeadPatch
  createIfMissing: boolean
  /** Whether a masked caller names a number with it: to look it up by, or to set. */
  namesNumber?: boolean
  /** Where the lead's fields stand in the request. */
  at: string
}

const checkShape = compileCheck(UpsertBody)

/** Reads one upsert whose shape was checked. `at` is where it stands in the request: `` or `items[3]`. */
export function readUpsert(
  body: UpsertBody,
  parameters: TypedField[],
  { at, ...reader }: ReadContext,
): UpsertItem | InvalidInput {
  const leadAt = joinPath(at, 'lead')
  const { patch, issues } = readLeadPatch(body.lead, parameters, { ...reader, at: leadAt })
  const [value = null, storedDigits] = valuesOf(body.match, reader.defaultCountry)
  const matchIssues: Issue[] =
    value === null ? [{ path: joinPath(at, 'match.value'), message: phoneProblem(body.match.value) }] : []
  if (value === null || issues.length > 0) return new InvalidInput([...matchIssues, ...issues])
  const { by } = body.match
  const namesNumber =
    reader.masked === true &&
    (patch.namesNumber === true || by === 'phone' || (by !== 'id' && holdsPhone(value, reader.defaultCountry)))
  const item = { by, value, patch, createIfMissing: body.createIfMissing !== false, namesNumber, at: leadAt }
  return storedDigits === undefined ? item : { ...item, storedDigits }
}

/** Reads one item of a batch, whose shape nobody has looked at yet: what does not fit fails alone. */
export function readBulkItem(
  item: unknown,
  context: ReadContext,
  parameters: TypedField[] = [],
): UpsertItem | InvalidInput {
  const issues = checkShape(item, context.at)
  return issues.length > 0 ? new InvalidInput(issues) : readUpsert(item as UpsertBody, parameters, context)
}

/** The canonical value, none when it is no phone; then the digits as sent, when they may be a stored phone too. */
function valuesOf({ by, value }: UpsertBody['match'], defaultCountry: string | null): string[] {
  if (by === 'phone') return readPhones(value, defaultCountry).reverse()
  return [by === 'id' ? value.toLowerCase() : value]
}
