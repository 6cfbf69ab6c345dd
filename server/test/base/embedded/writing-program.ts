// Runs an embedded PostgreSQL for the kill tests, and writes pairs of rows as fast as they commit. Prints `database
// <pid>` whenever its database has started, and `ack <id>` after each commit.
import { writeSync } from 'node:fs'
import { setImmediate as yieldOnce } from 'node:timers/promises'
import { systemClock } from '../../../src/base/clock.ts'
import { openDb } from '../../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts'
import { newId } from '../../../src/base/id.ts'
import { migrate } from '../../../src/base/migrate.ts'

const [folder = '', writers = '4'] = process.argv.slice(2)
// Written immediately: a buffered line would be lost with the process.
const say = (line: string) => writeSync(1, `${line}\n`)

const server = await startEmbeddedPostgres({
  folder,
  log: (line) => say(`log ${line}`),
  onRestart: () => say(`database ${server.pid}`),
})
const db = openDb(server)
await migrate(db)
await db.sql`create table if not exists written (id uuid primary key)`
await db.sql`create table if not exists recorded (id uuid primary key)`
say(`database ${server.pid}`)
for (let writer = 0; writer < Number(writers); writer++) void writeForever()

async function writeForever(): Promise<never> {
  for (;;) {
    const id = newId(systemClock.now())
    try {
      await db.tx(async (tx) => {
        await tx`insert into written (id) values (${id})`
        await tx`insert into recorded (id) values (${id})`
      })
      say(`ack ${id}`)
    } catch {
      // The database is unavailable, and the write was not acknowledged, so nothing is lost: try another.
      await yieldOnce()
    }
  }
}
