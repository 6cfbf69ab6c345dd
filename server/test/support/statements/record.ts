import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SentStatement } from '../../../src/base/db.ts'
import type { Wire } from '../../../src/base/postgres/values.ts'

/** A statement as the suite sent it first, to be sent again elsewhere. */
export interface RecordedStatement {
  text: string
  types: readonly number[]
  /** As they went over the wire: text, bytes in hex, or null. */
  values: readonly (string | { hex: string } | null)[]
}

const seen = new Set<string>()

/** Whether a run of all tests collects what is sent to servers that share the database. */
export const isRecording = (): boolean => process.env.PARLEY_RECORD_STATEMENTS !== undefined

/** Writes a statement, each text once for each process, where a run of all of them collects what is sent. */
export function recordStatement({ text, values, types }: SentStatement): void {
  const folder = process.env.PARLEY_RECORD_STATEMENTS
  if (folder === undefined || seen.has(text)) return
  seen.add(text)
  const statement: RecordedStatement = { text, types, values: values.map(inText) }
  appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(statement)}\n`)
}

const inText = (wire: Wire) => (wire === null || typeof wire === 'string' ? wire : { hex: wire.toString('hex') })
