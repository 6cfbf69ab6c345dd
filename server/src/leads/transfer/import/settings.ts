import type { Keyring } from '../../../base/sealing/keyring.ts'
import type { DecimalSign } from '../file/amounts.ts'
import type { FieldValueMapping, ValueMapping } from '../file/choices.ts'
import type { FileFormat } from '../file/file-rows.ts'

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
export const plainChoice = {
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
export interface ImportReport {
  kinds: { field: string; message: string; count: number }[]
  examples: Refusal[]
}

const maxKinds = 50
const maxExamples = 20

export const emptyReport: ImportReport = { kinds: [], examples: [] }

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
  return keyring.seal(importPlace(importId, 'settings'), JSON.stringify(settings))
}

export function openSettings(keyring: Keyring, importId: string, sealed: Buffer): ImportSettings {
  const { fileName, choice } = JSON.parse(keyring.openText(importPlace(importId, 'settings'), sealed)) as ImportSettings
  return { fileName, choice: choice === null ? null : { ...plainChoice, ...choice } }
}

export function sealReport(keyring: Keyring, importId: string, report: ImportReport): Buffer {
  return keyring.seal(importPlace(importId, 'report'), JSON.stringify(report))
}

export function openReport(keyring: Keyring, importId: string, sealed: Buffer | null): ImportReport {
  return sealed === null
    ? emptyReport
    : (JSON.parse(keyring.openText(importPlace(importId, 'report'), sealed)) as ImportReport)
}
