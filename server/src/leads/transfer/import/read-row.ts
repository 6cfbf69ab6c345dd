import { normalEmail } from '../../../access/users/users.ts'
import { InvalidInput, type Issue } from '../../../base/errors.ts'
import { newId } from '../../../base/id.ts'
import type { LeadSettings } from '../../../base/lead-settings.ts'
import type { CustomField } from '../../lead/custom-fields.ts'
import { readBulkItem } from '../../write/read-upsert.ts'
import type { UpsertItem } from '../../write/upsert-plan.ts'
import { unguardCell } from '../file/cells.ts'
import type { FileRow } from '../file/file-rows.ts'
import { errorColumn, type FieldTarget, readTarget } from '../file/targets.ts'
import type { ImportChoice } from './settings.ts'

export interface RowContext {
  choice: ImportChoice
  leadSettings: LeadSettings
  now: Date
  /** The id of a member by the e-mail, in its normal form. */
  memberIds: ReadonlyMap<string, string>
}

interface Draft {
  lead: Record<string, unknown>
  parameters: CustomField[]
  issues: Issue[]
}

/** Makes an upsert of a row; from there on the rules are those of every other upsert. */
export function readRow(row: FileRow, context: RowContext): UpsertItem | InvalidInput {
  const { choice, leadSettings, now } = context
  const { lead, parameters, issues } = choice.format === 'csv' ? draftOfCells(row, context) : draftOfLine(row)
  if (issues.length > 0) return new InvalidInput(issues)
  const value = choice.match === 'none' ? newId(now) : lead[choice.match]
  if (value === undefined || value === null || value === '') {
    return new InvalidInput([{ path: choice.match, message: 'is empty, and rows are matched by it' }])
  }
  const by = choice.match === 'none' ? 'id' : choice.match
  const item = { match: { by, value }, lead, createIfMissing: choice.match === 'none' || choice.createIfMissing }
  const read = readBulkItem(item, { ...leadSettings, at: '' }, parameters)
  return read instanceof InvalidInput
    ? new InvalidInput(oneEach(read.issues.map((issue) => inRow(issue, choice))))
    : read
}

// The field that a row is matched by is read twice, and so would be refused twice.
function oneEach(issues: readonly Issue[]): Issue[] {
  return issues.filter(({ path }, at) => issues.findIndex((issue) => issue.path === path) === at)
}

/** The issue with the path of the field that the row has: `lead.phone` of an upsert is `phone` of a row. */
export function inRow({ path, message }: Issue, { match }: ImportChoice): Issue {
  return { path: path === 'match.value' ? match : path.replace(/^lead\./, ''), message }
}

function draftOfCells({ cells }: FileRow, { choice, memberIds }: RowContext): Draft {
  const draft: Draft = { lead: {}, parameters: [], issues: [] }
  const refuse = (path: string, message: string) => {
    draft.issues.push({ path, message })
  }
  if (cells.length > choice.columns.length) {
    refuse('', `has ${cells.length} cells, and the header ${choice.columns.length}`)
    return draft
  }
  for (const [at, target] of choice.targets.entries()) {
    const text = unguardCell(cells[at] ?? '').trim()
    const read = target === null ? null : readTarget(target)
    if (target === null || read === null || (text === '' && choice.emptyCells === 'keep')) continue
    if (text.includes('\0')) refuse(target, 'must not hold the NUL character')
    else if ('key' in read) putCustom(draft, read.key, text)
    else if (text === '') clear(draft.lead, read.field)
    else putField(draft.lead, read.field, text, memberIds, refuse)
  }
  return draft
}

function putCustom({ lead, parameters }: Draft, key: string, text: string): void {
  if (text !== '') parameters.push({ key, label: key, type: 'text', value: text })
  else lead.customFieldValues = { ...(lead.customFieldValues as object), [key]: null }
}

const neverEmpty: readonly FieldTarget[] = ['uniqueCode', 'firstName', 'status', 'priority', 'source']

function clear(lead: Record<string, unknown>, field: FieldTarget): void {
  if (!neverEmpty.includes(field)) lead[field] = null
}

function putField(
  lead: Record<string, unknown>,
  field: FieldTarget,
  text: string,
  memberIds: ReadonlyMap<string, string>,
  refuse: (path: string, message: string) => void,
): void {
  if (field === 'estimatedValue' || field === 'actualValue') {
    const amount = readAmount(text)
    if (amount === null) refuse(field, 'must be a number such as 1500.50 or 1500,50')
    else lead[field] = amount
  } else if (field === 'assignedTo' && text.includes('@')) {
    const id = memberIds.get(normalEmail(text))
    if (id === undefined) refuse(field, 'must be the e-mail or id of a member of the workspace')
    else lead[field] = id
  } else lead[field] = text
}

// Nothing is guessed: `1,500` may be one and a half or fifteen hundred.
function readAmount(text: string): number | null {
  return /^-?\d+(?:[.]\d+|,\d{1,2})?$/.test(text) ? Number(text.replace(',', '.')) : null
}

function draftOfLine({ cells: [line = ''] }: FileRow): Draft {
  const refused = (message: string) => ({ lead: {}, parameters: [], issues: [{ path: '', message }] })
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return refused('is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('must be a JSON object')
  // PostgreSQL takes neither.
  if (line.includes('\\u') && !isStorable(value)) return refused('must not hold NUL or half a surrogate pair')
  const { [errorColumn]: _, ...lead } = value as Record<string, unknown>
  return { lead, parameters: [], issues: [] }
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member))
}
