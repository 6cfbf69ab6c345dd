import type { Leave, Shares } from '../shares/shares.ts'
import { currentWork, within, workInTransaction } from '../shares/work.ts'
import { ConnectionLost } from './failures.ts'
import { type Outcome, outcomeOf, type Proof } from './outcome.ts'
import type { Pool } from './pool.ts'
import { type End, endOf, mayRepeat } from './repeats.ts'
import { hurry, type Session } from './session.ts'
import type { Ended, Sql, Statement } from './template.ts'
import { Transaction } from './transaction.ts'

/** What statements and transactions share. */
export interface Core {
  /** The database that they are of, as work in a transaction knows it. */
  self: object
  pool: Pool
  shares: Shares
  /** Of this process, at the database. */
  name: string
  look: Look
}

export type Look = (statement: Statement) => Ended | undefined

export interface Repeating {
  /** It does no harm to do it twice: it is repeated also where nobody knows whether it was committed. */
  doesNoHarm: true
}

export const harmless: Repeating = { doesNoHarm: true }

/** What a statement that was done has answered, or that doing it twice does no harm. */
export type Proven<T> = { isThere: Proof; answer: T } | Repeating

interface Course {
  sinceMs: number
  doesNoHarm: boolean
}

/** Does work in a transaction, in a place of its own, and again where that may be. */
export async function begin<T>(core: Core, course: Course, work: (sql: Sql) => Promise<T>): Promise<T> {
  const { waits } = currentWork()
  waits?.begin(performance.now())
  let leave: Leave | undefined
  const inside = workInTransaction(core.self)
  try {
    leave = await core.shares.enter()
    return await within(inside, () => inTransaction(core, course, work))
  } finally {
    inside.transaction.isOpen = false
    leave?.()
    waits?.end(performance.now())
  }
}

async function inTransaction<T>(core: Core, course: Course, work: (sql: Sql) => Promise<T>): Promise<T> {
  const { pool, look } = core
  const { waits } = currentWork()
  for (let repeats = 1; ; repeats++) {
    const session = await pool.take(waits)
    hurry(session, waits)
    const transaction = new Transaction(session, look)
    const one: OneTransaction = { transaction, session, proof: null }
    transactions.set(transaction.sql, one)
    let working: Promise<T> | undefined
    let end: End<T>
    let failure: unknown
    let mayGoOn = false
    try {
      // Whoever waits for something else must not keep the place of a connection that is gone.
      const answer = await session.whileOpen(() => {
        working = work(transaction.sql)
        return working
      })
      await transaction.commit()
      return answer
    } catch (error) {
      failure = error
      await transaction.rollback()
      if (!mayRepeat(error, repeats, course.sinceMs)) throw error
      end = await endOf(working)
      if (end.how === 'answered' && (await transaction.isDone())) return end.answer
      if (end.how === 'goes on') throw error
      mayGoOn = course.doesNoHarm || transaction.isUndone(error, pool.isDirect)
      if (mayGoOn || one.proof !== null) pool.doubt(session)
    } finally {
      pool.release(session, failure)
    }
    if (mayGoOn) continue
    const outcome = await lookUp(core, failure, one.proof, course.sinceMs)
    if (outcome === 'done' && end.how === 'answered') return end.answer
    if (outcome !== 'undone' || !mayRepeat(failure, repeats, course.sinceMs)) throw failure
  }
}

/** Does a single statement, which may have to be looked for where its answer is lost. */
export async function untilKnown<T>(core: Core, proven: Proven<T>, once: () => Promise<T>): Promise<T> {
  const sinceMs = performance.now()
  for (let repeats = 1; ; repeats++) {
    try {
      return await once()
    } catch (error) {
      if (!mayRepeat(error, repeats, sinceMs)) throw error
      if ('doesNoHarm' in proven) continue
      const outcome = await lookUp(core, error, proven.isThere, sinceMs)
      if (outcome === 'done') return proven.answer
      if (outcome !== 'undone' || !mayRepeat(error, repeats, sinceMs)) throw error
    }
  }
}

async function lookUp({ pool, name }: Core, lost: unknown, isThere: Proof | null, sinceMs: number): Promise<Outcome> {
  if (isThere === null || !(lost instanceof ConnectionLost)) return 'unknown'
  for (let repeats = 1; ; repeats++) {
    try {
      return await outcomeOf({ pool, name, lost, isThere, waits: currentWork().waits })
    } catch (error) {
      if (!mayRepeat(error, repeats, sinceMs)) return 'unknown'
    }
  }
}

interface OneTransaction {
  transaction: Transaction
  session: Session
  proof: Proof | null
}

const transactions = new WeakMap<object, OneTransaction>()

/** The transaction that is behind a tag; undefined where it is of none. */
export const transactionOf = (sql: Sql): OneTransaction | undefined => transactions.get(sql)
