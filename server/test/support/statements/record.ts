import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SentStatement } from '../../../src/base/db.ts'
import type { Wire } from '../../../src/base/postgres/values.ts'

/** Statement as first sent by the tests, to be replayed on another server. */
export interface RecordedStatement {
  text: string
  types: readonly number[]
  /** Values as sent over the wire: text, bytes in hex, or null. */
  values: readonly (string | { hex: string } | null)[]
}

const seen = new Set<string>()

/** Returns whether this run records statements, to replay them on a server with distributed tables. */
export const isRecording = (): boolean => process.env.PARLEY_RECORD_STATEMENTS !== undefined

/** Records a statement, each text once per process, if the run records statements. */
export function recordStatement({ text, values, types }: SentStatement): void {
  const folder = process.env.PARLEY_RECORD_STATEMENTS
  if (folder === undefined || seen.has(text)) return
  seen.add(text)
  const statement: RecordedStatement = { text, types, values: values.map(inText) }
  appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(statement)}\n`)
}

const inText = (wire: Wire) => (wire === null || typeof wire === 'string' ? wire : { hex: wire.toString('hex') })
