import type { Keyring } from '../../../base/sealing/keyring.ts'
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
}

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

export const importPlace = (importId: string, column: string) => ({ table: 'lead_imports', row: importId, column })

export function sealSettings(keyring: Keyring, importId: string, settings: ImportSettings): Buffer {
  return keyring.seal(importPlace(importId, 'settings'), JSON.stringify(settings))
}

export function openSettings(keyring: Keyring, importId: string, sealed: Buffer): ImportSettings {
  return JSON.parse(keyring.openText(importPlace(importId, 'settings'), sealed)) as ImportSettings
}

export function sealReport(keyring: Keyring, importId: string, report: ImportReport): Buffer {
  return keyring.seal(importPlace(importId, 'report'), JSON.stringify(report))
}

export function openReport(keyring: Keyring, importId: string, sealed: Buffer | null): ImportReport {
  return sealed === null
    ? emptyReport
    : (JSON.parse(keyring.openText(importPlace(importId, 'report'), sealed)) as ImportReport)
}
