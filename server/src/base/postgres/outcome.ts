import { setTimeout as wait } from 'node:timers/promises'
import type { Waits } from '../shares/waits.ts'
import type { ConnectionLost } from './failures.ts'
import type { Pool } from './pool.ts'
import { hurry, type Session } from './session.ts'
import type { Sql } from './template.ts'
import { Transaction } from './transaction.ts'

/** Looks for a row that a transaction adds, by an id that nobody else gives. */
export type Proof = (sql: Sql) => Promise<boolean>
export type Outcome = 'done' | 'undone' | 'unknown'

const lookEveryMs = 50
/** What still commits may wait for a standby, and nobody knows for how long. */
const patienceMs = 1_000

export interface Question {
  pool: Pool
  /** Of this process, at the database. */
  name: string
  lost: ConnectionLost
  isThere: Proof
  /** Of whoever asks. */
  waits: Waits | null
}

/**
 * What became of a commit whose answer was lost, as the database has it that takes writes now. Nothing is said while the session that
 * was to commit may still be at it, and none of this through a pooler, which has sessions of its own.
 */
export async function outcomeOf({ pool, name, lost, isThere, waits }: Question): Promise<Outcome> {
  if (!pool.isDirect || lost.pid === null) return 'unknown'
  const session = await pool.take(waits)
  let failure: unknown
  try {
    hurry(session, waits)
    if (!(await hasGone(session, lost.pid, name))) return 'unknown'
    return (await read(session, isThere)) ? 'done' : 'undone'
  } catch (error) {
    failure = error
    pool.doubt(session)
    throw error
  } finally {
    pool.release(session, failure)
  }
}

/** Another one of this name with the same number may be there by chance, where the server is another: then nobody knows. */
async function hasGone(session: Session, pid: number, name: string): Promise<boolean> {
  const endsAtMs = performance.now() + patienceMs
  for (;;) {
    const transaction = new Transaction(session)
    const alive = await transaction.sql`
      select
      from pg_stat_activity
      where pid = ${pid}
        and application_name = ${name}
        and pid <> pg_backend_pid()`
    await transaction.rollback()
    if (alive.length === 0) return true
    if (performance.now() > endsAtMs) return false
    await wait(lookEveryMs)
  }
}

async function read(session: Session, isThere: Proof): Promise<boolean> {
  const transaction = new Transaction(session)
  try {
    const isDone = await isThere(transaction.sql)
    // A session that is ended while its commit waits for a standby has committed all the same. What waits for the standby behind it is
    // answered once the standby has both.
    if (isDone) await transaction.sql`select pg_logical_emit_message(true, 'parley', 'seen')`
    await transaction.commit()
    return isDone
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}
