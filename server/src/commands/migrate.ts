import { createLog } from '../base/log.ts'
import { migrate } from '../base/migrate.ts'
import type { Config } from '../config.ts'
import { openDatabase } from './start/database.ts'
import { answer, say } from './terminal.ts'

/** Brings the database up to date and stops; `serve` does the same when it starts. */
export async function migrateDatabase(config: Config, { json }: { json?: boolean }): Promise<void> {
  const { db, close } = await openDatabase(config, createLog(config.logLevel), say)
  try {
    const { applied } = await migrate(db)
    const lines = applied.length === 0 ? ['The database was up to date.'] : applied.map((name) => `Applied ${name}`)
    answer(json, { applied }, lines)
  } finally {
    await close()
  }
}
