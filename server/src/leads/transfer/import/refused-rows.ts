import { csvLine, unguardCell } from '../file/cells.ts'
import type { FileRow } from '../file/file-rows.ts'
import { errorColumn } from '../file/targets.ts'
import type { ImportChoice, Refusal } from './settings.ts'

const bom = '\uFEFF'

/** A row as the file of refused rows has it: as it came, with the reason. That file can be mended and imported. */
export function refusedRow(row: FileRow, reasons: readonly Refusal[], choice: ImportChoice): string {
  const words = reasons.map(({ field, message }) => `${field} ${message}`.trim()).join('; ')
  if (choice.format === 'ndjson') return ndjsonLine(row.cells[0] ?? '', words)
  // The line guards every cell again.
  const cells = row.cells.map(unguardCell)
  const padding = Array.from({ length: Math.max(0, choice.columns.length - cells.length) }, () => '')
  const [own, beyond] = [cells.slice(0, choice.columns.length), cells.slice(choice.columns.length)]
  // The reason stands below its header, also in a row of too many cells.
  return csvLine([...withoutReason([...own, ...padding], choice), words, ...beyond], choice.delimiter)
}

/** What stands before the rows: spreadsheets know UTF-8 by the mark. */
export function refusedHeader(choice: ImportChoice): string {
  if (choice.format === 'ndjson') return ''
  return bom + csvLine([...withoutReason(choice.columns, choice), errorColumn], choice.delimiter)
}

// A file that was refused before has the reason of that time.
function withoutReason(texts: readonly string[], { columns }: ImportChoice): string[] {
  return texts.filter((_, at) => columns[at] !== errorColumn)
}

function ndjsonLine(line: string, words: string): string {
  try {
    const value = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return `${JSON.stringify({ ...value, [errorColumn]: words })}\n`
    }
  } catch {
    // Told as it came, below.
  }
  return `${JSON.stringify({ line, [errorColumn]: words })}\n`
}
