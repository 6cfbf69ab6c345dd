import type { Sql } from '../../../base/db.ts'
import { unprocessable } from '../../../base/errors.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { unguardCell } from '../file/cells.ts'
import { type ChosenField, proposeValue, valueKey } from '../file/choices.ts'
import { FileProblem, type FileRow, readRows } from '../file/file-rows.ts'
import type { ImportRow } from './imports.ts'
import { readPieces } from './pieces.ts'
import { type FormatWish, lookAtFile } from './preview.ts'

export const maxValues = 100
export const maxValueLength = 200
const maxBytes = 32 * 1024 * 1024

/** What a workspace has that a file may name. */
interface Known {
  statuses: readonly string[]
  members: readonly { userId: string; name: string; email: string }[]
}

export interface ColumnValues {
  values: { text: string; count: number; value: string | null }[]
  /** Whether all of the file was read, and told. */
  isWhole: boolean
}

/** What a column of a file says, most frequent first, with what each probably means for the field. */
export async function readColumnValues(
  sql: Sql,
  keyring: Keyring,
  row: ImportRow,
  { column, field, ...wish }: FormatWish & { column: string; field: ChosenField },
  { statuses, members }: Known,
): Promise<ColumnValues> {
  const look = await lookAtFile(sql, keyring, row, wish)
  const at = look.columns.findIndex(({ name }) => name === column)
  if (row.format === 'csv' && at === -1) throw unprocessable(`The file has no column ${JSON.stringify(column)}`)
  const textOf = row.format === 'csv' ? ({ cells }: FileRow) => unguardCell(cells[at] ?? '') : jsonField(column)
  const file = { workspaceId: row.workspace_id, importId: row.id, kind: 'file' } as const
  const rows = readRows(
    readPieces(sql, () => keyring, file, look.dataStart),
    { format: row.format, encoding: look.encoding, delimiter: look.delimiter },
    look.dataStart,
  )
  const counts = new Map<string, { text: string; count: number }>()
  let isWhole = true
  try {
    for await (const each of rows) {
      if (!count(counts, textOf(each).trim())) isWhole = false
      if (each.end - look.dataStart < maxBytes) continue
      isWhole = false
      break
    }
  } catch (error) {
    // The rows before it are told; the import itself says what is wrong.
    if (!(error instanceof FileProblem)) throw error
    isWhole = false
  }
  const values = [...counts.values()].sort((a, b) => b.count - a.count)
  const propose = (text: string) =>
    field === 'assignedTo' ? memberOfName(members, text) : proposeValue(field, text, statuses)
  return { values: values.map((one) => ({ ...one, value: propose(one.text) })), isWhole }
}

function count(counts: Map<string, { text: string; count: number }>, text: string): boolean {
  if (text === '') return true
  if (text.length > maxValueLength) return false
  const key = valueKey(text)
  const known = counts.get(key)
  if (known !== undefined) known.count++
  else if (counts.size < maxValues) counts.set(key, { text, count: 1 })
  else return false
  return true
}

/** The member with this e-mail, id, or name that nobody else has. */
function memberOfName(members: Known['members'], text: string): string | null {
  const key = valueKey(text)
  const [named, other] = members.filter(({ name }) => valueKey(name) === key)
  const known = members.find(({ userId, email }) => userId === key || valueKey(email) === key)
  return known?.userId ?? (other === undefined ? named?.userId : null) ?? null
}

const jsonField =
  (name: string) =>
  ({ cells: [line = ''] }: FileRow): string => {
    try {
      const value = (JSON.parse(line) as Record<string, unknown> | null)?.[name]
      return typeof value === 'string' ? value : ''
    } catch {
      return ''
    }
  }
