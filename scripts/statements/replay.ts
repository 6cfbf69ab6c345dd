import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readTables } from '../../server/src/base/citus/table-placement.ts'
import { type Db, openDb, sqlState } from '../../server/src/base/db.ts'
import { distribute, migrate } from '../../server/src/base/migrate.ts'
import { Parameter } from '../../server/src/base/postgres/values.ts'
import type { RecordedStatement } from '../../server/test/support/statements/record.ts'
import { databaseOf, startTestServer } from '../../server/test/support/test-server.ts'
import { createSourceLookup } from './source-locations.ts'

export interface RefusedStatement {
  /** File and line that defines the statement. */
  place: string
  reason: string
  text: string
}

export interface ReplayReport {
  checked: number
  refused: RefusedStatement[]
  /** Number of statements not replayed, by reason. */
  skipped: { ofTests: number; onNoTable: number; refusedAnywhere: number }
}

/** Explains each statement on a server with distributed tables; checks refusals on one without. Keeps no changes. */
export async function replayAll(url: string, folder: string): Promise<ReplayReport> {
  const spread = openDb({ url, maxConnections: 4 })
  const server = await startTestServer({})
  const whole = openDb({ ...databaseOf(server.admin, server.template), maxConnections: 2 })
  try {
    await migrate(spread)
    await distribute(spread, () => {})
    return await replay({ spread, whole }, readRecorded(folder))
  } finally {
    await Promise.all([spread.close(), whole.close()])
    await server.stop()
  }
}

function readRecorded(folder: string): RecordedStatement[] {
  const byText = new Map<string, RecordedStatement>()
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
  for (const line of lines.filter((one) => one !== '')) {
    const statement = JSON.parse(line) as RecordedStatement
    if (!byText.has(statement.text)) byText.set(statement.text, statement)
  }
  return [...byText.values()]
}

async function replay({ spread, whole }: { spread: Db; whole: Db }, statements: RecordedStatement[]) {
  const tables = new Set((await readTables(spread.sql, [])).map(({ name }) => name))
  const placeOf = createSourceLookup()
  const report: ReplayReport = { checked: 0, refused: [], skipped: { ofTests: 0, onNoTable: 0, refusedAnywhere: 0 } }
  for (const statement of statements) {
    if (!isOnTables(statement, tables)) {
      report.skipped.onNoTable++
      continue
    }
    const place = placeOf(statement.text)
    if (place === null) {
      report.skipped.ofTests++
      continue
    }
    report.checked++
    const reason = await refusalOf(spread, statement)
    if (reason === null) continue
    if ((await refusalOf(whole, statement)) !== null) report.skipped.refusedAnywhere++
    else report.refused.push({ place, reason, text: statement.text.replace(/\s+/g, ' ').trim() })
  }
  return report
}

const explainable = /^\s*(?:select|insert|update|delete|with)\b/i

/** Returns whether the statement uses one of these tables; catalogs and settings behave the same on both servers. */
function isOnTables({ text }: RecordedStatement, tables: ReadonlySet<string>): boolean {
  return explainable.test(text) && [...text.matchAll(/[a-z_]+/g)].some(([word]) => tables.has(word))
}

/** Errors of an `insert … select` with parameters that occur only with `explain`. */
const ofExplain = /^(?:could not create distributed plan|no value found for parameter \d+)$/

/** Returns the database's error for a statement that it would not run; null if it would. */
async function refusalOf(db: Db, { text, types, values }: RecordedStatement): Promise<string | null> {
  const parameters = values.map((value, n) => {
    const wire = value !== null && typeof value === 'object' ? Buffer.from(value.hex, 'hex') : value
    return new Parameter(wire, types[n] ?? 0)
  })
  try {
    await db.sql.unsafe(`explain ${text}`, parameters)
    return null
  } catch (error) {
    if (error instanceof Error && ofExplain.test(error.message)) return runAndRollBack(db, text, parameters)
    return describeError(error)
  }
}

/** Runs the statement and rolls back. An error about values means that the server accepted the statement. */
async function runAndRollBack({ tx: transaction }: Db, text: string, parameters: Parameter[]): Promise<string | null> {
  const undone = new Error('undone')
  try {
    await transaction(async (tx) => {
      await tx.unsafe(text, parameters)
      throw undone
    })
    return null
  } catch (error) {
    return error === undone || /^2[23]/.test(sqlState(error)) ? null : describeError(error)
  }
}

const describeError = (error: unknown) => `${sqlState(error)} ${error instanceof Error ? error.message : error}`
