import { setTimeout as wait } from 'node:timers/promises'
import type { Release } from '../scheduling/fair-queue.ts'
import { currentContext, runInContext, transactionContext } from '../scheduling/work-context.ts'
import { ConnectionLost } from './failures.ts'
import type { Pool } from './pool.ts'
import { canRetry, type WorkResult, waitForWork } from './retry-rules.ts'
import type { Session } from './session.ts'
import { type Core, Transaction } from './statements.ts'
import type { Sql } from './template.ts'

/** Looks for a row that a transaction inserts under an id that no other uses. */
export type CommitProof = (sql: Sql) => Promise<boolean>

export interface RetryOptions {
  /** Repeating is harmless, so the work is repeated even if the commit status is unknown. */
  isIdempotent: true
}

export const idempotent: RetryOptions = { isIdempotent: true }

/** How to find out whether a statement was executed and what it returned, or that repeating it is harmless. */
export type StatementProof<T> = { isCommitted: CommitProof; answer: T } | RetryOptions

interface OpenTransaction {
  transaction: Transaction
  session: Session
  proof: CommitProof | null
}

const transactions = new WeakMap<object, OpenTransaction>()

/** Returns the transaction of a tag; undefined for the pool. */
export const transactionOf = (sql: Sql): OpenTransaction | undefined => transactions.get(sql)

/** Runs work in a transaction, with a slot of the fair queue, and retries it where that is safe. */
export async function runTransaction<T>(
  core: Core,
  sinceMs: number,
  isIdempotent: boolean,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { waitBudget } = currentContext()
  waitBudget?.begin(performance.now())
  let release: Release | undefined
  const inside = transactionContext(core.self)
  try {
    release = await core.fairQueue.enter()
    return await runInContext(inside, () => inTransaction(core, sinceMs, isIdempotent, work))
  } finally {
    inside.transaction.isOpen = false
    release?.()
    waitBudget?.end(performance.now())
  }
}

async function inTransaction<T>(
  core: Core,
  sinceMs: number,
  isIdempotent: boolean,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { pool, onStatement } = core
  const { waitBudget } = currentContext()
  for (let repeats = 1; ; repeats++) {
    const session = await pool.acquire(waitBudget)
    session.shortenTimeouts(waitBudget)
    const transaction = new Transaction(session, onStatement)
    const openTransaction: OpenTransaction = { transaction, session, proof: null }
    transactions.set(transaction.sql, openTransaction)
    let working: Promise<T> | undefined
    let end: WorkResult<T>
    let failure: unknown
    let isSafeToRetry = false
    try {
      // Work that waits for something else must not keep the slot of a lost connection.
      const answer = await session.whileOpen(() => {
        working = work(transaction.sql)
        return working
      })
      await transaction.commit()
      return answer
    } catch (error) {
      failure = error
      await transaction.rollback()
      if (!canRetry(error, repeats, sinceMs)) throw error
      end = await waitForWork(working)
      if (end.how === 'answered' && (await transaction.wasCommitted())) return end.answer
      if (end.how === 'goes on') throw error
      isSafeToRetry = isIdempotent || transaction.wasRolledBack(error, pool.isDirect)
      if (isSafeToRetry || openTransaction.proof !== null) pool.retireServer(session)
    } finally {
      pool.release(session, failure)
    }
    if (isSafeToRetry) continue
    const commitStatus = await findCommitStatus(core, failure, openTransaction.proof, sinceMs)
    if (commitStatus === 'done' && end.how === 'answered') return end.answer
    if (commitStatus !== 'undone' || !canRetry(failure, repeats, sinceMs)) throw failure
  }
}

/** Runs a single statement, and checks its commit status if the answer is lost. */
export async function runUntilKnown<T>(core: Core, proof: StatementProof<T>, once: () => Promise<T>): Promise<T> {
  const sinceMs = performance.now()
  for (let repeats = 1; ; repeats++) {
    try {
      return await once()
    } catch (error) {
      if (!canRetry(error, repeats, sinceMs)) throw error
      if ('isIdempotent' in proof) continue
      const commitStatus = await findCommitStatus(core, error, proof.isCommitted, sinceMs)
      if (commitStatus === 'done') return proof.answer
      if (commitStatus !== 'undone' || !canRetry(error, repeats, sinceMs)) throw error
    }
  }
}

type CommitStatus = 'done' | 'undone' | 'unknown'

/** Determines whether a commit with a lost answer took effect. */
async function findCommitStatus(
  { pool, name }: Core,
  lost: unknown,
  isCommitted: CommitProof | null,
  sinceMs: number,
): Promise<CommitStatus> {
  // The session of a pooler is not the lost one.
  if (isCommitted === null || !(lost instanceof ConnectionLost) || lost.pid === null || !pool.isDirect) return 'unknown'
  for (let repeats = 1; ; repeats++) {
    try {
      return await checkCommit(pool, lost.pid, name, isCommitted)
    } catch (error) {
      if (!canRetry(error, repeats, sinceMs)) return 'unknown'
    }
  }
}

/** Checks on the current primary. Returns `unknown` while the lost session may still commit. */
async function checkCommit(pool: Pool, pid: number, name: string, isCommitted: CommitProof): Promise<CommitStatus> {
  const { waitBudget } = currentContext()
  const session = await pool.acquire(waitBudget)
  let failure: unknown
  try {
    session.shortenTimeouts(waitBudget)
    if (!(await hasEnded(session, pid, name))) return 'unknown'
    return (await inReadTransaction(session, (sql) => isDurable(sql, isCommitted))) ? 'done' : 'undone'
  } catch (error) {
    failure = error
    pool.retireServer(session)
    throw error
  } finally {
    pool.release(session, failure)
  }
}

const checkEveryMs = 50
/** Limited, because a commit may wait for a standby for any time. */
const endTimeoutMs = 1_000

/** Waits for the session to end. On another server, a different session may have its pid and name: then unknown. */
async function hasEnded(session: Session, pid: number, name: string): Promise<boolean> {
  const endsAtMs = performance.now() + endTimeoutMs
  for (;;) {
    const alive = await inReadTransaction(
      session,
      (sql) => sql`
        select
        from pg_stat_activity
        where pid = ${pid}
          and application_name = ${name}
          and pid <> pg_backend_pid()`,
    )
    if (alive.length === 0) return true
    if (performance.now() > endsAtMs) return false
    await wait(checkEveryMs)
  }
}

async function isDurable(sql: Sql, isCommitted: CommitProof): Promise<boolean> {
  const isDone = await isCommitted(sql)
  // A session that ended while its commit waited for a standby has committed nevertheless. This transaction's commit is
  // answered only when the standby has both.
  if (isDone) await sql`select pg_logical_emit_message(true, 'parley', 'seen')`
  return isDone
}

async function inReadTransaction<T>(session: Session, work: (sql: Sql) => PromiseLike<T>): Promise<T> {
  const transaction = new Transaction(session)
  try {
    const answer = await work(transaction.sql)
    await transaction.commit()
    return answer
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}
