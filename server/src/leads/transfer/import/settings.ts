import type { Keyring } from '../../../base/encryption/keyring.ts'
import { csvLine, unguardCell } from '../file/cells.ts'
import type { DecimalSign, FieldValueMapping, ValueMapping } from '../file/field-values.ts'
import type { FileFormat, FileRow } from '../file/file-rows.ts'
import { errorColumn } from '../file/targets.ts'

export const matchers = ['externalRef', 'uniqueCode', 'phone', 'id', 'none'] as const
export type Matcher = (typeof matchers)[number]

/** What was chosen when an import was started. */
export interface ImportChoice extends FileFormat {
  /** The headings of the file, empty for NDJSON, and what each column fills: null leaves it out. */
  columns: string[]
  targets: (string | null)[]
  match: Matcher
  createIfMissing: boolean
  emptyCells: 'keep' | 'clear'
  /** What the file's values of fields with few values stand for. */
  values: ValueMapping
  /** The same of the workspace's own fields. */
  fieldValues: FieldValueMapping
  /** The words after the first one of a first name are the last name, where the row has none. */
  splitNames: boolean
  /** What stands before cents; null where amounts are only read that can be read in one way. */
  decimal: DecimalSign | null
  /** What custom fields are called, by what a column fills. */
  labels: Record<string, string>
}

/** What was not asked for when an import was started. */
const plainChoice = {
  values: {},
  fieldValues: {},
  splitNames: false,
  decimal: null,
  labels: {},
} satisfies Partial<ImportChoice>

export interface ImportSettings {
  fileName: string
  choice: ImportChoice | null
}

export interface Refusal {
  row: number
  field: string
  message: string
}

/** A summary of what was refused, of bounded size. */
interface ImportReport {
  kinds: { field: string; message: string; count: number }[]
  examples: Refusal[]
}

const maxKinds = 50
const maxExamples = 20

const emptyReport: ImportReport = { kinds: [], examples: [] }

/** The report with more refusals in it. Kinds beyond the 50th are told by the examples and the file alone. */
export function addRefusals(report: ImportReport, refusals: readonly Refusal[]): ImportReport {
  const kinds = report.kinds.map((kind) => ({ ...kind }))
  for (const { field, message } of refusals) {
    const known = kinds.find((kind) => kind.field === field && kind.message === message)
    if (known !== undefined) known.count++
    else if (kinds.length < maxKinds) kinds.push({ field, message, count: 1 })
  }
  return { kinds, examples: [...report.examples, ...refusals].slice(0, maxExamples) }
}

const importPlace = (importId: string, column: string) => ({ table: 'lead_imports', row: importId, column })

export function sealSettings(keyring: Keyring, importId: string, settings: ImportSettings): Buffer {
  return keyring.encrypt(importPlace(importId, 'settings'), JSON.stringify(settings))
}

export function openSettings(keyring: Keyring, importId: string, sealed: Buffer): ImportSettings {
  const { fileName, choice } = JSON.parse(
    keyring.decryptText(importPlace(importId, 'settings'), sealed),
  ) as ImportSettings
  return { fileName, choice: choice === null ? null : { ...plainChoice, ...choice } }
}

export function sealReport(keyring: Keyring, importId: string, report: ImportReport): Buffer {
  return keyring.encrypt(importPlace(importId, 'report'), JSON.stringify(report))
}

export function openReport(keyring: Keyring, importId: string, sealed: Buffer | null): ImportReport {
  return sealed === null
    ? emptyReport
    : (JSON.parse(keyring.decryptText(importPlace(importId, 'report'), sealed)) as ImportReport)
}

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
