import type { Leave } from '../shares/shares.ts'
import { service } from '../shares/work.ts'
import type { Answer } from './exchange.ts'
import { isStalePlan } from './failures.ts'
import type { Pool } from './pool.ts'
import { planOf } from './prepared.ts'
import { isKnownUndone, mayRepeat, onlyReads } from './repeats.ts'
import type { Ended, Rows, Sender, Statement } from './template.ts'
import { Transaction } from './transaction.ts'

/**
 * What is asked before a statement is sent: a place to send it from. It throws when it may not be sent at all. Light is
 * a single statement, which is on its connection for no longer than it runs.
 */
export interface Gate {
  enter(isLight: boolean): Leave | Promise<Leave>
  /** Whose statements it is that may travel together. */
  owner(): string
  /** Where a statement is being made that must not be sent from there; null where it may. */
  wrongPlace(): Error | null
  onStatement(statement: Statement): Ended | undefined
}

type Answered = Pick<Answer, 'rows' | 'count'>

/** Sends single statements by the pool, each through the gate; once more those that may be, where their connection ends. */
export function poolSender(pool: Pool, gate: Gate, isLight: boolean): Sender {
  const enter = (light: boolean, misplaced: Error | null): Leave | Promise<Leave> => {
    // A piece that was made in a transaction, and is first asked for after it, does no harm.
    const isWrong = gate.wrongPlace()
    if (isWrong !== null) throw misplaced ?? isWrong
    return gate.enter(light)
  }
  const run = async (statement: Statement, owner: string, sinceMs: number, repeats = 0): Promise<Answered> => {
    const isAgain = repeats > 0
    const chosen = isAgain ? pool.take() : pool.forStatement(owner, isLight && !statement.isScript)
    const session = chosen instanceof Promise ? await chosen : chosen
    // Where it goes behind others, what they wait for has begun before.
    const mayHurry = owner !== service && (isAgain || session.inFlight === 0)
    const isHurried = mayHurry && session.hurry(performance.now() - sinceMs)
    let failure: unknown
    try {
      const { settings, preface } = session.mode
      if (statement.isScript) return await session.script(preface + statement.text)
      // What is sent together without a commit of its own is one transaction.
      const step = { plan: planOf(statement), values: statement.values }
      const request = { steps: [...settings, step], main: settings.length }
      try {
        return await session.send(request)
      } catch (error) {
        if (!isStalePlan(error)) throw error
        return await session.send(request)
      }
    } catch (error) {
      failure = error
      throw error
    } finally {
      if (isHurried) session.reset()
      if (isAgain) pool.release(session, failure)
      else pool.settled(session, failure)
    }
  }
  const runAgain = async (statement: Statement, sinceMs: number, first: unknown): Promise<Answered> => {
    const isHarmless = isLight && onlyReads(statement)
    let failure = first
    for (let repeats = 1; mayRepeat(failure, repeats, sinceMs); repeats++) {
      if (!isHarmless && !isKnownUndone(failure, pool.isDirect)) break
      try {
        return await run(statement, gate.owner(), sinceMs, repeats)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  return {
    misplaced: gate.wrongPlace,
    async send(statement, misplaced): Promise<Rows<readonly unknown[]>> {
      const sinceMs = performance.now()
      const entered = enter(isLight, misplaced)
      const leave = entered instanceof Promise ? await entered : entered
      let ended: Ended | undefined
      try {
        ended = gate.onStatement(statement)
        let answer: Answered
        try {
          answer = await run(statement, gate.owner(), sinceMs)
        } catch (error) {
          answer = await runAgain(statement, sinceMs, error)
        }
        ended?.()
        return Object.assign(answer.rows, { count: answer.count })
      } catch (error) {
        ended?.(error)
        throw error
      } finally {
        leave()
      }
    },
    async *pages(statement, rows, misplaced) {
      const leave = await enter(false, misplaced)
      let ended: Ended | undefined
      try {
        ended = gate.onStatement(statement)
        yield* pagesOf(pool, statement, rows)
      } finally {
        ended?.()
        leave()
      }
    },
  }
}

/** Pages live as long as a transaction. */
async function* pagesOf(pool: Pool, statement: Statement, rows: number): AsyncGenerator<readonly unknown[]> {
  const session = await pool.take()
  const transaction = new Transaction(session)
  let failure: unknown
  try {
    yield* transaction.pages(statement, rows)
  } catch (error) {
    failure = error
    throw error
  } finally {
    await transaction.rollback()
    pool.release(session, failure)
  }
}
