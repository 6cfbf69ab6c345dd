import type { Keyring } from '../../../base/encryption/keyring.ts'
import { csvLine, unguardCell } from '../file/cells.ts'
import { errorColumn } from '../file/column-mapping.ts'
import type { DecimalSeparator, FieldValueMapping, ValueMapping } from '../file/field-values.ts'
import type { FileFormat, FileRow } from '../file/file-rows.ts'
import type { Matcher } from './matchers.ts'

/** Settings of a started import. */
export interface ImportChoice extends FileFormat {
  /** Headings of the file, empty for NDJSON. `targets` has the field that each column fills, or null. */
  columns: string[]
  targets: (string | null)[]
  match: Matcher
  createIfMissing: boolean
  emptyCells: 'keep' | 'clear'
  /** Mapping of values for fields with a fixed set of values. */
  values: ValueMapping
  /** Mapping of values for fields that the workspace defines. */
  fieldValues: FieldValueMapping
  /** If true, splits a first name after its first word if the row has no last name. */
  splitNames: boolean
  /** Decimal separator; if null, ambiguous amounts are refused. */
  decimal: DecimalSeparator | null
  /** Labels of custom fields, by target. */
  labels: Record<string, string>
}

// Defaults for imports started before these settings existed, or without them.
const defaultChoice = {
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

/** Summary of rejected rows, of limited size. */
interface ImportReport {
  kinds: { field: string; message: string; count: number }[]
  examples: Refusal[]
}

const maxKinds = 50
const maxExamples = 20

const emptyReport: ImportReport = { kinds: [], examples: [] }

/** Returns the report with refusals added. Kinds beyond the 50th appear only in the examples and the file. */
export function addRefusals(report: ImportReport, refusals: readonly Refusal[]): ImportReport {
  const kinds = report.kinds.map((kind) => ({ ...kind }))
  for (const { field, message } of refusals) {
    const known = kinds.find((kind) => kind.field === field && kind.message === message)
    if (known !== undefined) known.count++
    else if (kinds.length < maxKinds) kinds.push({ field, message, count: 1 })
  }
  return { kinds, examples: [...report.examples, ...refusals].slice(0, maxExamples) }
}

const importContext = (importId: string, column: string) => ({ table: 'lead_imports', row: importId, column })

export function encryptSettings(keyring: Keyring, importId: string, settings: ImportSettings): Buffer {
  return keyring.encrypt(importContext(importId, 'settings'), JSON.stringify(settings))
}

export function decryptSettings(keyring: Keyring, importId: string, ciphertext: Buffer): ImportSettings {
  const { fileName, choice } = JSON.parse(
    keyring.decryptText(importContext(importId, 'settings'), ciphertext),
  ) as ImportSettings
  return { fileName, choice: choice === null ? null : { ...defaultChoice, ...choice } }
}

export function encryptReport(keyring: Keyring, importId: string, report: ImportReport): Buffer {
  return keyring.encrypt(importContext(importId, 'report'), JSON.stringify(report))
}

export function decryptReport(keyring: Keyring, importId: string, ciphertext: Buffer | null): ImportReport {
  return ciphertext === null
    ? emptyReport
    : (JSON.parse(keyring.decryptText(importContext(importId, 'report'), ciphertext)) as ImportReport)
}

const bom = '\uFEFF'

/** Returns a line of the file of rejected rows: the original row with the reason. The file can be imported again. */
export function formatRefusedRow(row: FileRow, reasons: readonly Refusal[], choice: ImportChoice): string {
  const reasonText = reasons.map(({ field, message }) => `${field} ${message}`.trim()).join('; ')
  if (choice.format === 'ndjson') return ndjsonLine(row.cells[0] ?? '', reasonText)
  // csvLine guards every cell again.
  const cells = row.cells.map(unguardCell)
  const padding = Array.from({ length: Math.max(0, choice.columns.length - cells.length) }, () => '')
  const [own, beyond] = [cells.slice(0, choice.columns.length), cells.slice(choice.columns.length)]
  // The reason is in its own column, also in a row with too many cells.
  return csvLine([...withoutReason([...own, ...padding], choice), reasonText, ...beyond], choice.delimiter)
}

/** Returns the start of the file; spreadsheets recognize UTF-8 by the byte order mark. */
export function formatRefusedHeader(choice: ImportChoice): string {
  if (choice.format === 'ndjson') return ''
  return bom + csvLine([...withoutReason(choice.columns, choice), errorColumn], choice.delimiter)
}

// A re-imported file of rejected rows has the reason of the previous import.
function withoutReason(texts: readonly string[], { columns }: ImportChoice): string[] {
  return texts.filter((_, at) => columns[at] !== errorColumn)
}

function ndjsonLine(line: string, reasonText: string): string {
  try {
    const value = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return `${JSON.stringify({ ...value, [errorColumn]: reasonText })}\n`
    }
  } catch {
    // Not a JSON object; returned as text below.
  }
  return `${JSON.stringify({ line, [errorColumn]: reasonText })}\n`
}
