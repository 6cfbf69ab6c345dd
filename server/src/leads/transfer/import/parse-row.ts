import { InvalidInput, type Issue } from '../../../base/errors.ts'
import { newId } from '../../../base/id.ts'
import type { LeadSettings } from '../../../base/lead-settings.ts'
import { emailKey } from '../../../base/text/email.ts'
import { hasChoices, type LeadField, storedType } from '../../fields/lead-fields.ts'
import { maxLabelLength, type TypedField } from '../../lead/custom-fields.ts'
import { parseBulkItem, type UpsertItem } from '../../lead/input.ts'
import { unguardCell } from '../file/cells.ts'
import { errorColumn, type FieldTarget, parseTarget, type Target, targetOfKey } from '../file/column-mapping.ts'
import {
  allowedValues,
  choiceFields,
  isChoiceField,
  mapChoices,
  matchValue,
  parseFieldValue,
  parseFileAmount,
  valueKey,
} from '../file/field-values.ts'
import type { FileRow } from '../file/file-rows.ts'
import type { ImportChoice } from './settings.ts'

export interface RowContext {
  choice: ImportChoice
  leadSettings: LeadSettings
  now: Date
  /** Member ids by normalized e-mail. */
  memberIds: ReadonlyMap<string, string>
  /** Statuses of the workspace; a file cannot add others. */
  statuses: readonly string[]
  /** Custom fields that the workspace defines, by key. */
  fields: ReadonlyMap<string, LeadField>
}

const unknownStatus = 'is not a status of the workspace; map it to one, or add it in the settings'
const notAnAmount = 'must be a number such as 1500.50 or 1500,50'
const unclearAmount = `${notAnAmount}; set the decimal separator if numbers like 1.500 are ambiguous`

interface Draft {
  lead: Record<string, unknown>
  parameters: TypedField[]
  issues: Issue[]
}

/** Converts a row to an upsert, which then follows the rules of every other upsert. */
export function parseRow(row: FileRow, context: RowContext): UpsertItem | InvalidInput {
  const { choice, leadSettings, now } = context
  const { lead, parameters, issues } =
    choice.format === 'csv' ? draftFromCells(row, context) : draftFromLine(row, context)
  if (choice.splitNames) splitName(lead)
  if (issues.length > 0) return new InvalidInput(issues)
  const value = choice.match === 'none' ? newId(now) : lead[choice.match]
  if (value === undefined || value === null || value === '') {
    return new InvalidInput([{ path: choice.match, message: 'is empty, and rows are matched by it' }])
  }
  const by = choice.match === 'none' ? 'id' : choice.match
  const item = { match: { by, value }, lead, createIfMissing: choice.match === 'none' || choice.createIfMissing }
  const parsed = parseBulkItem(item, { ...leadSettings, at: '' }, parameters)
  return parsed instanceof InvalidInput
    ? new InvalidInput(uniquePaths(parsed.issues.map((issue) => toRowIssue(issue, choice))))
    : parsed
}

// The field that matches the row is validated twice, which would report it twice.
function uniquePaths(issues: readonly Issue[]): Issue[] {
  return issues.filter(({ path }, at) => issues.findIndex((issue) => issue.path === path) === at)
}

/** Returns the issue with the row's field as its path: `lead.phone` of an upsert becomes `phone`. */
export function toRowIssue({ path, message }: Issue, { match }: ImportChoice): Issue {
  return { path: path === 'match.value' ? match : path.replace(/^lead\./, ''), message }
}

// `Ana Maria de Souza`: the first word is the first name. `Souza, Ana`: the comma separates last and first name.
function splitName(lead: Record<string, unknown>): void {
  const { firstName, lastName } = lead
  if (typeof firstName !== 'string' || (typeof lastName === 'string' && lastName.trim() !== '')) return
  const name = firstName.trim()
  const comma = name.indexOf(',')
  const at = comma > 0 ? comma : name.search(/\s/)
  if (at < 1) return
  const [first, rest] = [name.slice(0, at), name.slice(at + 1).trim()]
  if (rest === '') return
  Object.assign(lead, comma > 0 ? { firstName: rest, lastName: first.trim() } : { firstName: first, lastName: rest })
}

function draftFromCells({ cells }: FileRow, context: RowContext): Draft {
  const { choice } = context
  const draft: Draft = { lead: {}, parameters: [], issues: [] }
  const refuse = (path: string, message: string) => {
    draft.issues.push({ path, message })
  }
  if (cells.length > choice.columns.length) {
    refuse('', `The row has ${cells.length} cells, and the header ${choice.columns.length}`)
    return draft
  }
  for (const [at, target] of choice.targets.entries()) {
    const parsed = target === null ? null : parseTarget(target)
    const cellText = unguardCell(cells[at] ?? '').trim()
    const text = parsed === null ? cellText : mapTargetValue(parsed, cellText, context)
    if (target === null || parsed === null || (text === '' && choice.emptyCells === 'keep')) continue
    if (text.includes('\0')) refuse(target, 'must not contain the NUL character')
    else if ('key' in parsed) {
      const field = context.fields.get(parsed.key)
      if (field === undefined || text === '') setCustomField(draft, parsed.key, text, labelOf(choice, target, at))
      else setDefinedField(draft, field, text, context, (problem) => refuse(target, problem))
    } else if (text === '') clear(draft.lead, parsed.field)
    else setField(draft.lead, parsed.field, text, context, refuse)
  }
  return draft
}

/** Returns the mapped value, or the text if it has no mapping; empty if it is mapped to null. */
function mapValue(field: FieldTarget, text: string, { values }: ImportChoice): string {
  const mapped = isChoiceField(field) ? values[field]?.[valueKey(text)] : undefined
  return mapped === undefined ? text : (mapped ?? '')
}

function mapTargetValue(target: Target, text: string, { choice, fields }: RowContext): string {
  if ('field' in target) return mapValue(target.field, text, choice)
  const field = fields.get(target.key)
  return field === undefined ? text : mapChoices(field, text, choice.fieldValues[targetOfKey(target.key)])
}

/** Returns the label for a custom field: the chosen label, else the column heading unless that is a bare key. */
function labelOf({ labels, columns }: ImportChoice, target: string, at: number): string | null {
  const heading = columns[at] ?? ''
  const label = labels[target] ?? (parseTarget(heading) === null ? heading : '')
  return label === '' ? null : label.slice(0, maxLabelLength)
}

function setCustomField({ lead, parameters }: Draft, key: string, text: string, label: string | null): void {
  if (text !== '') parameters.push({ key, label: label ?? key, type: 'text', value: text, isFromFile: true })
  else lead.customFieldValues = { ...(lead.customFieldValues as object), [key]: null }
}

function setDefinedField(
  { parameters }: Draft,
  field: LeadField,
  text: string,
  { choice, leadSettings }: RowContext,
  refuse: (problem: string) => void,
): void {
  const parsed = parseFieldValue(field, text, { decimal: choice.decimal, country: leadSettings.defaultCountry })
  if ('problem' in parsed) refuse(parsed.problem)
  else parameters.push({ key: field.key, label: field.label, type: storedType(field.type), value: parsed.value })
}

const nonNullableFields: readonly FieldTarget[] = ['uniqueCode', 'firstName', 'status', 'priority', 'source']

function clear(lead: Record<string, unknown>, field: FieldTarget): void {
  if (!nonNullableFields.includes(field)) lead[field] = null
}

function setField(
  lead: Record<string, unknown>,
  field: FieldTarget,
  text: string,
  { choice, memberIds, statuses }: RowContext,
  refuse: (path: string, message: string) => void,
): void {
  if (field === 'estimatedValue' || field === 'actualValue') {
    const amount = parseFileAmount(text, choice.decimal)
    if (amount === null) refuse(field, choice.decimal === null ? unclearAmount : notAnAmount)
    else lead[field] = amount
  } else if (isChoiceField(field) && field !== 'assignedTo') {
    const value = matchValue(text, allowedValues(field, statuses) ?? [])
    if (field === 'status' && value === undefined) refuse(field, unknownStatus)
    else lead[field] = value ?? text
  } else if (field === 'assignedTo' && text.includes('@')) {
    const id = memberIds.get(emailKey(text))
    if (id === undefined) refuse(field, 'must be the e-mail or id of a member of the workspace')
    else lead[field] = id
  } else lead[field] = text
}

function draftFromLine({ cells: [line = ''] }: FileRow, context: RowContext): Draft {
  const { choice, statuses } = context
  const reject = (message: string) => ({ lead: {}, parameters: [], issues: [{ path: '', message }] })
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return reject('The line is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return reject('The line must be a JSON object')
  // PostgreSQL stores neither.
  if (line.includes('\\u') && !isStorable(value))
    return reject('The line must not contain NUL or an unpaired surrogate')
  const { [errorColumn]: _, ...lead } = value as Record<string, unknown>
  for (const field of choiceFields) {
    const text = lead[field]
    if (typeof text !== 'string') continue
    const mappedText = mapValue(field, text, choice)
    if (mappedText === '') delete lead[field]
    else lead[field] = matchValue(mappedText, allowedValues(field, statuses) ?? []) ?? mappedText
  }
  const issues = setDefinedFields(lead, context)
  const { status } = lead
  if (typeof status === 'string' && !statuses.includes(status)) issues.push({ path: 'status', message: unknownStatus })
  return { lead, parameters: [], issues }
}

/** Converts choices of defined fields to stored form; returns issues for values that are not allowed. */
function setDefinedFields(lead: Record<string, unknown>, { choice, fields, leadSettings }: RowContext): Issue[] {
  const { customFieldValues: rawValues } = lead
  if (typeof rawValues !== 'object' || rawValues === null || Array.isArray(rawValues)) return []
  const issues: Issue[] = []
  const values = Object.entries(rawValues).flatMap(([key, value]): [string, unknown][] => {
    const field = fields.get(key)
    if (field === undefined || !hasChoices(field.type) || typeof value !== 'string' || value.trim() === '') {
      return [[key, value]]
    }
    const mappedText = mapChoices(field, value, choice.fieldValues[targetOfKey(key)])
    if (mappedText === '') return []
    const parsed = parseFieldValue(field, mappedText, { decimal: null, country: leadSettings.defaultCountry })
    if (!('problem' in parsed)) return [[key, parsed.value]]
    issues.push({ path: targetOfKey(key), message: parsed.problem })
    return []
  })
  lead.customFieldValues = Object.fromEntries(values)
  return issues
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member))
}
