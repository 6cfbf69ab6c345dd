import type { Sql } from '../../../base/db.ts'
import { unprocessable } from '../../../base/errors.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { fieldsInUse } from '../../fields/lead-fields.ts'
import { unguardCell } from '../file/cells.ts'
import { decodeBeginning, detectEncoding, type Encoding } from '../file/encoding.ts'
import { FileProblem } from '../file/file-problem.ts'
import { type Delimiter, detectDelimiter, type FileRow, readRows } from '../file/file-rows.ts'
import { proposeTargets } from '../file/targets.ts'
import { endStates, type ImportRow } from './imports.ts'
import { readPieces } from './pieces.ts'

/** How the caller wants the file read; what is left out is found out. */
export interface FormatWish {
  encoding?: Encoding
  delimiter?: Delimiter
}

export interface FileLook {
  encoding: Encoding
  delimiter: Delimiter
  /** The headings with the fields proposed for them; none for NDJSON. */
  columns: { name: string; target: string | null }[]
  /** Where the first row of data begins, in bytes. */
  dataStart: number
  rows: string[][]
}

const shownRows = 10
const maxColumns = 200

/** Reads the beginning of a file: its columns, and its first rows. */
export async function lookAtFile(sql: Sql, keyring: Keyring, row: ImportRow, wish: FormatWish): Promise<FileLook> {
  if (endStates.includes(row.state)) throw unprocessable(`The file is removed: the import is ${row.state}`)
  const file = { workspaceId: row.workspace_id, importId: row.id, kind: 'file' } as const
  const pieces = () => readPieces(sql, () => keyring, file, 0)
  const first = (await pieces().next()).value ?? Buffer.alloc(0)
  const encoding = wish.encoding ?? detectEncoding(first)
  const delimiter = wish.delimiter ?? detectDelimiter(decodeBeginning(first, encoding))
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
  const names = unlike(header.cells.map((cell) => unguardCell(cell).trim()))
  const defined = await fieldsInUse(sql, row.workspace_id)
  const targets = proposeTargets(names, [...defined.values()])
  const columns = names.map((name, at) => ({ name, target: targets[at] ?? null }))
  return { encoding, delimiter, columns, dataStart: header.end, rows: cellsOf(found.slice(1)) }
}

const cellsOf = (rows: readonly FileRow[]) => rows.slice(0, shownRows).map(({ cells }) => cells)

/** Columns without a name, or with one that was there before, get one by which they can be mapped. */
function unlike(names: readonly string[]): string[] {
  return names.map((name, at) => (name === '' || names.indexOf(name) !== at ? `${name || 'column'} ${at + 1}` : name))
}
