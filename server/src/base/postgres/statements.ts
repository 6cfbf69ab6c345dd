import type { FairQueue, Release } from '../scheduling/fair-queue.ts'
import { currentContext, isInTransaction } from '../scheduling/work-context.ts'
import { type Answer, begin, commit, type Portal, planOf, rollback, type Step, scriptOf } from './exchange.ts'
import { isStalePlan, sqlState } from './failures.ts'
import type { Pool } from './pool.ts'
import { canRetry, isKnownRolledBack, isReadOnly } from './retry-rules.ts'
import type { Session } from './session.ts'
import { type Ended, type Rows, type Sender, type Sql, type Statement, tagOf } from './template.ts'

/** What statements and transactions share. */
export interface Core {
  /** The database that they are of, as work in a transaction knows it. */
  self: object
  pool: Pool
  shares: FairQueue
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

export const secondConnectionIn = ({ self }: Core): SecondConnection | null =>
  isInTransaction(self) ? new SecondConnection() : null

/**
 * Sends single statements by the pool, each from a place of its own; once more those that may be, where their connection ends. What
 * only reads waits for no lock: several may be on their way by one connection while their workspace is alone.
 */
export function poolSender(core: Core, onlyReading: boolean): Sender {
  const { pool, shares, look } = core
  const enter = (isLight: boolean, misplaced: Error | null): Release | Promise<Release> => {
    // A piece that was made in a transaction, and is first asked for after it, does no harm.
    const isWrong = secondConnectionIn(core)
    if (isWrong !== null) throw misplaced ?? isWrong
    return shares.enter(isLight)
  }

  return {
    misplaced: () => secondConnectionIn(core),
    async send(statement, misplaced): Promise<Rows<readonly unknown[]>> {
      const sinceMs = performance.now()
      const { waitBudget } = currentContext()
      waitBudget?.begin(sinceMs)
      let leave: Release | undefined
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
        waitBudget?.end(performance.now())
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
      const mayBeDoneTwice = (onlyReading && isReadOnly(statement)) || isKnownRolledBack(error, pool.isDirect)
      if (!mayBeDoneTwice || !canRetry(error, repeats, sinceMs)) throw error
    }
  }
}

async function sendByPool(pool: Pool, statement: Statement, isCompany: boolean): Promise<Answered> {
  const { owner, waitBudget } = currentContext()
  const chosen = pool.forStatement(owner, isCompany, waitBudget)
  const session = chosen instanceof Promise ? await chosen : chosen
  // Where it goes behind others, what they wait for has begun before.
  const isHurried = session.inFlight === 0 && waitBudget !== null && session.hurry(waitBudget.ms(performance.now()))
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
  const session = await pool.take(currentContext().waitBudget)
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

/**
 * A transaction on a connection of its own. Nothing is sent before its first statement, which takes `begin` along: work
 * that asks nothing costs nothing.
 */
export class Transaction implements Sender {
  readonly sql: Sql
  readonly #session: Session
  readonly #look: (statement: Statement) => Ended | undefined
  /** What opens it: `begin`, and settings for its time. */
  readonly #opening: readonly Step[]
  #state: 'new' | 'open' | 'ending' | 'over' = 'new'
  #failure: unknown
  #committed: Promise<Answer> | null = null

  constructor(session: Session, look: (statement: Statement) => Ended | undefined = () => undefined) {
    this.#session = session
    this.#look = look
    this.#opening = [begin, ...session.mode.settings]
    this.sql = tagOf(this)
  }

  misplaced(): null {
    return null
  }

  async send(statement: Statement): Promise<Rows<readonly unknown[]>> {
    this.#refuseAtEnd()
    const ended = this.#look(statement)
    try {
      const { rows, count } = statement.isScript
        ? await this.#script(statement.text)
        : await this.#exchange({ plan: planOf(statement), values: statement.values })
      ended?.()
      return Object.assign(rows, { count })
    } catch (error) {
      ended?.(error)
      throw error
    }
  }

  async *pages(statement: Statement, rows: number): AsyncGenerator<readonly unknown[]> {
    this.#refuseAtEnd()
    const step: Step = { plan: planOf(statement), values: statement.values }
    const name = 'parley_pages'
    let page = await this.#exchange(step, { name, rows, isOpen: false })
    while (page.rows.length > 0) {
      yield page.rows
      if (!page.hasMore) return
      page = await this.#exchange(step, { name, rows, isOpen: true })
    }
  }

  /**
   * Sends the commit right after the statements that `work` sends before it first waits. What they answer can undo
   * nothing any more; when one of them fails, or is not even sent, nothing is committed.
   */
  commitBehind<T>(work: () => Promise<T>): Promise<T> {
    const answer = work()
    let isBroken = false
    answer.catch(() => {
      isBroken = true
    })
    // What throws between two statements is known by then; all of them leave with the commit a moment later.
    process.nextTick(() => {
      if (!isBroken) this.#sendCommit()
    })
    return answer
  }

  async commit(): Promise<void> {
    this.#sendCommit()
    if (this.#committed === null) return
    const { lastTag } = await this.#committed
    this.#state = 'over'
    // A statement had failed, and whoever asked for it went on: the database undid everything.
    if (lastTag !== 'COMMIT')
      throw this.#failure ?? new Error('The transaction was undone: a statement in it had failed')
  }

  /** Whether the server has said that all of it is done, though whoever waits may have heard of the connection's end first. */
  async isDone(): Promise<boolean> {
    const answer = await this.#committed?.catch(() => undefined)
    return answer?.lastTag === 'COMMIT'
  }

  /**
   * Whether nothing of it is done for certain, now that it has failed. Of a commit that has left and was not answered nobody knows.
   * What was sent before it is answered before it: the first failure tells whether it was still come to.
   */
  isUndone(failure: unknown, isDirect: boolean): boolean {
    return this.#committed === null || isKnownRolledBack(this.#failure ?? failure, isDirect)
  }

  async rollback(): Promise<void> {
    const isOpen = this.#state === 'open'
    this.#state = 'over'
    // Whatever became of the commit, nothing is left behind it; and on some ways nothing may be sent before its answer.
    await this.#committed?.catch(() => undefined)
    if (isOpen && !this.#session.isOver) await this.#session.send({ steps: [rollback], main: 0 }).catch(() => undefined)
  }

  #refuseAtEnd(): void {
    if (this.#state === 'over' || this.#state === 'ending')
      throw new Error('A statement was made in a transaction that has ended')
  }

  #sendCommit(): void {
    if (this.#state !== 'open') return
    this.#state = 'ending'
    this.#committed = this.#session.send({ steps: [commit], main: 0 })
    this.#committed.catch(() => undefined)
  }

  #exchange(step: Step, portal?: Portal): Promise<Answer> {
    const opening = this.#state === 'new' ? this.#opening : []
    this.#state = 'open'
    const request = { steps: [...opening, step], main: opening.length, ...(portal && { portal }) }
    return this.#noting(this.#session.send(request))
  }

  async #script(text: string): Promise<Answer> {
    if (this.#state === 'new') {
      this.#state = 'open'
      await this.#noting(this.#session.send({ steps: this.#opening, main: 0 }))
    }
    return this.#noting(this.#session.send(scriptOf(text)))
  }

  async #noting<T>(sent: Promise<T>): Promise<T> {
    try {
      return await sent
    } catch (error) {
      this.#failure ??= error
      // Those behind the first to fail are told that there was one, which says nothing to whoever hears of it first.
      throw sqlState(error) === '25P02' ? this.#failure : error
    }
  }
}
