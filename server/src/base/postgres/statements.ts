import type { Leave, Shares } from '../shares/shares.ts'
import { currentWork, isInTransaction } from '../shares/work.ts'
import { type Answer, scriptOf } from './exchange.ts'
import { isStalePlan } from './failures.ts'
import type { Pool } from './pool.ts'
import { planOf } from './prepared.ts'
import { isKnownUndone, mayRepeat, onlyReads } from './repeats.ts'
import type { Session } from './session.ts'
import type { Ended, Rows, Sender, Statement } from './template.ts'
import { Transaction } from './transaction.ts'

/** What statements and transactions share. */
export interface Core {
  /** The database that they are of, as work in a transaction knows it. */
  self: object
  pool: Pool
  shares: Shares
  /** Of this process, at the database. */
  name: string
  /** Sees every statement that is about to be sent. */
  look(statement: Statement): Ended | undefined
}

/** A fault of ours: at worst, all who hold a connection wait for one more. */
export class SecondConnection extends Error {
  constructor() {
    super('A second connection is asked for inside a transaction: hand `tx` in, or ask before it begins')
  }
}

export const misplacedIn = ({ self }: Core): SecondConnection | null =>
  isInTransaction(self) ? new SecondConnection() : null

/**
 * Sends single statements by the pool, each from a place of its own; once more those that may be, where their connection ends. What
 * only reads waits for no lock: several may be on their way by one connection while their workspace is alone.
 */
export function poolSender(core: Core, onlyReading: boolean): Sender {
  const { pool, shares, look } = core
  const enter = (isLight: boolean, misplaced: Error | null): Leave | Promise<Leave> => {
    // A piece that was made in a transaction, and is first asked for after it, does no harm.
    const isWrong = misplacedIn(core)
    if (isWrong !== null) throw misplaced ?? isWrong
    return shares.enter(isLight)
  }

  return {
    misplaced: () => misplacedIn(core),
    async send(statement, misplaced): Promise<Rows<readonly unknown[]>> {
      const sinceMs = performance.now()
      const { waits } = currentWork()
      waits?.begin(sinceMs)
      let leave: Leave | undefined
      let ended: Ended | undefined
      try {
        const entered = enter(onlyReading, misplaced)
        leave = entered instanceof Promise ? await entered : entered
        ended = look(statement)
        const answer = await sendUntilKnown(pool, statement, onlyReading, sinceMs)
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
        ended = look(statement)
        yield* pagesOf(pool, statement, rows)
      } finally {
        ended?.()
        leave()
      }
    },
  }
}

type Answered = Pick<Answer, 'rows' | 'count'>

async function sendUntilKnown(
  pool: Pool,
  statement: Statement,
  onlyReading: boolean,
  sinceMs: number,
): Promise<Answered> {
  for (let repeats = 1; ; repeats++) {
    try {
      return await sendByPool(pool, statement, onlyReading && !statement.isScript && repeats === 1)
    } catch (error) {
      const mayBeDoneTwice = (onlyReading && onlyReads(statement)) || isKnownUndone(error, pool.isDirect)
      if (!mayBeDoneTwice || !mayRepeat(error, repeats, sinceMs)) throw error
    }
  }
}

async function sendByPool(pool: Pool, statement: Statement, isCompany: boolean): Promise<Answered> {
  const { owner, waits } = currentWork()
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

async function sendOnce(session: Session, statement: Statement): Promise<Answered> {
  const { settings, preface } = session.mode
  if (statement.isScript) return session.send(scriptOf(preface + statement.text))
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
async function* pagesOf(pool: Pool, statement: Statement, rows: number): AsyncGenerator<readonly unknown[]> {
  const session = await pool.take(currentWork().waits)
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
