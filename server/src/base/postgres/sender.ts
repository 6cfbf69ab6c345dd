import type { Leave } from '../shares/shares.ts'
import type { Waits } from '../shares/waits.ts'
import { currentWork } from '../shares/work.ts'
import type { Answer } from './exchange.ts'
import { isStalePlan } from './failures.ts'
import type { Pool } from './pool.ts'
import { planOf } from './prepared.ts'
import { isKnownUndone, mayRepeat, onlyReads } from './repeats.ts'
import type { Session } from './session.ts'
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
  const run = async (statement: Statement, waits: Waits | null, sinceMs: number): Promise<Answered> => {
    const isCompany = isLight && !statement.isScript
    let failure: unknown
    try {
      return await runFirst(pool, statement, { owner: gate.owner(), isCompany, waits })
    } catch (error) {
      failure = error
    }
    const isHarmless = isLight && onlyReads(statement)
    for (let repeats = 1; mayRepeat(failure, repeats, sinceMs); repeats++) {
      if (!isHarmless && !isKnownUndone(failure, pool.isDirect)) break
      try {
        return await runAgain(pool, statement, waits)
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
      const { waits } = currentWork()
      waits?.begin(sinceMs)
      let leave: Leave | undefined
      let ended: Ended | undefined
      try {
        const entered = enter(isLight, misplaced)
        leave = entered instanceof Promise ? await entered : entered
        ended = gate.onStatement(statement)
        const answer = await run(statement, waits, sinceMs)
        ended?.()
        return Object.assign(answer.rows, { count: answer.count })
      } catch (error) {
        ended?.(error)
        throw error
      } finally {
        leave?.()
        waits?.end(performance.now())
      }
    },
    async *pages(statement, rows, misplaced) {
      const leave = await enter(false, misplaced)
      let ended: Ended | undefined
      try {
        ended = gate.onStatement(statement)
        yield* pagesOf(pool, statement, rows, currentWork().waits)
      } finally {
        ended?.()
        leave()
      }
    },
  }
}

interface Way {
  owner: string
  /** It may travel behind others of its owner. */
  isCompany: boolean
  waits: Waits | null
}

async function runFirst(pool: Pool, statement: Statement, { owner, isCompany, waits }: Way): Promise<Answered> {
  const chosen = pool.forStatement(owner, isCompany, waits)
  const session = chosen instanceof Promise ? await chosen : chosen
  // Where it goes behind others, what they wait for has begun before.
  const isHurried = session.inFlight === 0 && waits !== null && session.hurry(waits.ms(performance.now()))
  let failure: unknown
  try {
    return await sendOnce(session, statement)
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (isHurried) session.reset()
    pool.settled(session, failure)
  }
}

async function runAgain(pool: Pool, statement: Statement, waits: Waits | null): Promise<Answered> {
  const session = await pool.take(waits)
  let failure: unknown
  try {
    if (waits !== null) session.hurry(waits.ms(performance.now()))
    return await sendOnce(session, statement)
  } catch (error) {
    failure = error
    throw error
  } finally {
    pool.release(session, failure)
  }
}

async function sendOnce(session: Session, statement: Statement): Promise<Answered> {
  const { settings, preface } = session.mode
  if (statement.isScript) return session.script(preface + statement.text)
  // What is sent together without a commit of its own is one transaction.
  const step = { plan: planOf(statement), values: statement.values }
  const request = { steps: [...settings, step], main: settings.length }
  try {
    return await session.send(request)
  } catch (error) {
    if (!isStalePlan(error)) throw error
    return await session.send(request)
  }
}

/** Pages live as long as a transaction. */
async function* pagesOf(
  pool: Pool,
  statement: Statement,
  rows: number,
  waits: Waits | null,
): AsyncGenerator<readonly unknown[]> {
  const session = await pool.take(waits)
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
