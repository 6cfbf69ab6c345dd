import type { Sql } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { InvalidInput, unprocessable } from '../../../base/errors.ts'
import { fieldsInUse, hasChoices, type LeadField } from '../../fields/lead-fields.ts'
import { unguardCell } from '../file/cells.ts'
import { parseTarget, proposeTargets } from '../file/column-mapping.ts'
import type { ChoiceField } from '../file/field-values.ts'
import { isChoiceField, matchChoice, proposeValue, splitChoices, valueKey } from '../file/field-values.ts'
import type { Delimiter, Encoding, FileRow } from '../file/file-rows.ts'
import { decodeBeginning, detectDelimiter, detectEncoding, FileProblem, readRows } from '../file/file-rows.ts'
import { readPieces } from './file-pieces.ts'
import { endStates, type ImportRow } from './imports.ts'

/** Format chosen by the caller; missing values are detected. */
interface FormatRequest {
  encoding?: Encoding
  delimiter?: Delimiter
}

export interface FilePreview {
  encoding: Encoding
  delimiter: Delimiter
  /** Headings with proposed fields; empty for NDJSON. */
  columns: { name: string; target: string | null }[]
  /** Start of the first row of data, in bytes. */
  dataStart: number
  rows: string[][]
}

const shownRows = 10
const maxColumns = 200

/** Reads the columns and the first rows of a file. Throws 422 if it cannot be read. */
export async function previewFile(
  sql: Sql,
  keyring: Keyring,
  row: ImportRow,
  request: FormatRequest,
): Promise<FilePreview> {
  if (endStates.includes(row.state)) throw unprocessable(`The file is removed: the import is ${row.state}`)
  const file = { workspaceId: row.workspace_id, importId: row.id, kind: 'file' } as const
  const pieces = () => readPieces(sql, () => keyring, file, 0)
  const first = (await pieces().next()).value ?? Buffer.alloc(0)
  const encoding = request.encoding ?? detectEncoding(first)
  const delimiter = request.delimiter ?? detectDelimiter(decodeBeginning(first, encoding))
  const { format } = row
  const found: FileRow[] = []
  try {
    for await (const each of readRows(pieces(), { format, encoding, delimiter }, 0)) {
      found.push(each)
      if (found.length > shownRows) break
    }
  } catch (error) {
    if (error instanceof FileProblem) throw unprocessable(error.message)
    throw error
  }
  if (format === 'ndjson') return { encoding, delimiter, columns: [], dataStart: 0, rows: cellsOf(found) }
  const [header] = found
  if (header === undefined) throw unprocessable('The file is empty')
  if (header.cells.length > maxColumns) throw unprocessable(`The file has more than ${maxColumns} columns`)
  const names = makeUnique(header.cells.map((cell) => unguardCell(cell).trim()))
  const defined = await fieldsInUse(sql, row.workspace_id)
  const targets = proposeTargets(names, [...defined.values()])
  const columns = names.map((name, at) => ({ name, target: targets[at] ?? null }))
  return { encoding, delimiter, columns, dataStart: header.end, rows: cellsOf(found.slice(1)) }
}

const cellsOf = (rows: readonly FileRow[]) => rows.slice(0, shownRows).map(({ cells }) => cells)

/** Returns unique column names: empty and repeated names get a number. */
function makeUnique(names: readonly string[]): string[] {
  return names.map((name, at) => (name === '' || names.indexOf(name) !== at ? `${name || 'column'} ${at + 1}` : name))
}

export const maxValues = 100
export const maxValueLength = 200
const maxBytes = 32 * 1024 * 1024

/** Statuses and members that values of a file can mean. */
interface WorkspaceValues {
  statuses: readonly string[]
  members: readonly { userId: string; name: string; email: string }[]
}

export interface ColumnValues {
  values: { text: string; count: number; value: string | null }[]
  /** True if the whole file was read and all values are listed. */
  isWhole: boolean
}

/** Returns the values of a column, most frequent first, with the probable meaning of each. */
export async function readColumnValues(
  sql: Sql,
  keyring: Keyring,
  row: ImportRow,
  { column, field, ...request }: FormatRequest & { column: string; field: ChoiceField | LeadField },
  { statuses, members }: WorkspaceValues,
): Promise<ColumnValues> {
  const preview = await previewFile(sql, keyring, row, request)
  const at = preview.columns.findIndex(({ name }) => name === column)
  if (row.format === 'csv' && at === -1) throw unprocessable(`The file has no column ${JSON.stringify(column)}`)
  const textOf = row.format === 'csv' ? ({ cells }: FileRow) => unguardCell(cells[at] ?? '') : jsonField(column)
  const partsOf = (text: string) => (typeof field === 'string' ? [text.trim()] : splitChoices(field, text))
  const file = { workspaceId: row.workspace_id, importId: row.id, kind: 'file' } as const
  const rows = readRows(
    readPieces(sql, () => keyring, file, preview.dataStart),
    { format: row.format, encoding: preview.encoding, delimiter: preview.delimiter },
    preview.dataStart,
  )
  const counts = new Map<string, { text: string; count: number }>()
  let isWhole = true
  try {
    for await (const each of rows) {
      for (const part of partsOf(textOf(each))) if (!countValue(counts, part)) isWhole = false
      if (each.end - preview.dataStart < maxBytes) continue
      isWhole = false
      break
    }
  } catch (error) {
    // Returns the values of the rows before the problem; the import itself reports the problem.
    if (!(error instanceof FileProblem)) throw error
    isWhole = false
  }
  const values = [...counts.values()].sort((a, b) => b.count - a.count)
  const propose = (text: string) => {
    if (typeof field !== 'string') return matchChoice(field.choices, text) ?? null
    return field === 'assignedTo' ? findMember(members, text) : proposeValue(field, text, statuses)
  }
  return { values: values.map((one) => ({ ...one, value: propose(one.text) })), isWhole }
}

function countValue(counts: Map<string, { text: string; count: number }>, text: string): boolean {
  if (text === '') return true
  if (text.length > maxValueLength) return false
  const key = valueKey(text)
  const known = counts.get(key)
  if (known !== undefined) known.count++
  else if (counts.size < maxValues) counts.set(key, { text, count: 1 })
  else return false
  return true
}

/** Returns the field that a column fills. Throws 400 unless its values come from a fixed set. */
export function resolveField(name: string, fields: ReadonlyMap<string, LeadField>): ChoiceField | LeadField {
  if (isChoiceField(name)) return name
  const target = parseTarget(name)
  const field = target !== null && 'key' in target ? fields.get(target.key) : undefined
  if (field !== undefined && hasChoices(field.type)) return field
  const message = 'must be a field with a fixed set of values'
  throw new InvalidInput([{ path: 'field', message }], 'query')
}

/** Returns the member with this e-mail or id, or with this name if it is unique. */
function findMember(members: WorkspaceValues['members'], text: string): string | null {
  const key = valueKey(text)
  const [named, other] = members.filter(({ name }) => valueKey(name) === key)
  const known = members.find(({ userId, email }) => userId === key || valueKey(email) === key)
  return known?.userId ?? (other === undefined ? named?.userId : null) ?? null
}

const jsonField =
  (name: string) =>
  ({ cells: [line = ''] }: FileRow): string => {
    try {
      const lead = JSON.parse(line) as Record<string, unknown> | null
      const target = parseTarget(name)
      const own = lead?.customFieldValues as Record<string, unknown> | null | undefined
      const value = target !== null && 'key' in target ? own?.[target.key] : lead?.[name]
      return typeof value === 'string' ? value : ''
    } catch {
      return ''
    }
  }
