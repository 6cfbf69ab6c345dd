import type { FairQueue, Release } from '../scheduling/fair-queue.ts'
import { currentContext, isInTransaction } from '../scheduling/work-context.ts'
import { type Answer, begin, commit, type Portal, planOf, rollback, type Step, scriptOf } from './exchange.ts'
import { isStalePlan, sqlState } from './failures.ts'
import type { Pool } from './pool.ts'
import { canRetry, isKnownRolledBack, isReadOnly } from './retry-rules.ts'
import type { Session } from './session.ts'
import { type OnEnd, type Rows, type Sender, type Sql, type Statement, tagOf } from './template.ts'

/** Shared by statements and transactions. */
export interface Core {
  /** Identifies the database for work in a transaction. */
  self: object
  pool: Pool
  fairQueue: FairQueue
  /** Application name of this process. */
  name: string
  /** Called for every statement before it is sent. */
  onStatement(statement: Statement): OnEnd | undefined
}

/** A bug in Parley: if all connections are held by work that requests another one, they deadlock. */
export class SecondConnection extends Error {
  constructor() {
    super('A second connection was requested inside a transaction: pass `tx`, or query before the transaction')
  }
}

export const secondConnectionIn = ({ self }: Core): SecondConnection | null =>
  isInTransaction(self) ? new SecondConnection() : null

/**
 * Sends single statements through the pool, each with a slot of the fair queue. Retries those that are safe to repeat
 * if their connection ends. Reads wait for no locks, so several can be pipelined on one connection while their
 * workspace is the only active one.
 */
export function poolSender(core: Core, onlyReading: boolean): Sender {
  const { pool, fairQueue, onStatement } = core
  const enter = (isLight: boolean, misplaced: Error | null): Release | Promise<Release> => {
    // A statement created in a transaction, but first awaited after it, is harmless.
    const misuse = secondConnectionIn(core)
    if (misuse !== null) throw misplaced ?? misuse
    return fairQueue.enter(isLight)
  }

  return {
    findMisuse: () => secondConnectionIn(core),
    async send(statement, misplaced): Promise<Rows<readonly unknown[]>> {
      const sinceMs = performance.now()
      const { waitBudget } = currentContext()
      waitBudget?.begin(sinceMs)
      let release: Release | undefined
      let ended: OnEnd | undefined
      try {
        const entered = enter(onlyReading, misplaced)
        release = entered instanceof Promise ? await entered : entered
        ended = onStatement(statement)
        const answer = await sendUntilKnown(pool, statement, onlyReading, sinceMs)
        ended?.()
        return Object.assign(answer.rows, { count: answer.count })
      } catch (error) {
        ended?.(error)
        throw error
      } finally {
        release?.()
        waitBudget?.end(performance.now())
      }
    },
    async *pages(statement, rows, misplaced) {
      const release = await enter(false, misplaced)
      let ended: OnEnd | undefined
      try {
        ended = onStatement(statement)
        yield* pagesOf(pool, statement, rows)
      } finally {
        ended?.()
        release()
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
      const isRepeatable = (onlyReading && isReadOnly(statement)) || isKnownRolledBack(error, pool.isDirect)
      if (!isRepeatable || !canRetry(error, repeats, sinceMs)) throw error
    }
  }
}

async function sendByPool(pool: Pool, statement: Statement, isPipelined: boolean): Promise<Answered> {
  const { owner, waitBudget } = currentContext()
  const chosen = pool.acquireForStatement(owner, isPipelined, waitBudget)
  const session = chosen instanceof Promise ? await chosen : chosen
  // A pipelined statement waits for others that started earlier.
  const isShortened =
    session.inFlight === 0 && waitBudget !== null && session.shortenTimeout(waitBudget.ms(performance.now()))
  let failure: unknown
  try {
    return await sendOnce(session, statement)
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (isShortened) session.reset()
    pool.afterRequest(session, failure)
  }
}

async function sendOnce(session: Session, statement: Statement): Promise<Answered> {
  const { settings, scriptPrefix } = session.mode
  if (statement.isScript) return session.send(scriptOf(scriptPrefix + statement.text))
  // Statements sent together, without their own commit, form one transaction.
  const step = { plan: planOf(statement), values: statement.values }
  const request = { steps: [...settings, step], main: settings.length }
  try {
    return await session.send(request)
  } catch (error) {
    if (!isStalePlan(error)) throw error
    return await session.send(request)
  }
}

/** A portal lasts only as long as its transaction. */
async function* pagesOf(pool: Pool, statement: Statement, rows: number): AsyncGenerator<readonly unknown[]> {
  const session = await pool.acquire(currentContext().waitBudget)
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

/** A transaction on its own connection. Sends `begin` with the first statement, so without statements it is free. */
export class Transaction implements Sender {
  readonly sql: Sql
  readonly #session: Session
  readonly #onStatement: (statement: Statement) => OnEnd | undefined
  /** `begin` and the settings for the transaction. */
  readonly #opening: readonly Step[]
  #state: 'new' | 'open' | 'ending' | 'over' = 'new'
  #failure: unknown
  #committed: Promise<Answer> | null = null

  constructor(session: Session, onStatement: (statement: Statement) => OnEnd | undefined = () => undefined) {
    this.#session = session
    this.#onStatement = onStatement
    this.#opening = [begin, ...session.mode.settings]
    this.sql = tagOf(this)
  }

  findMisuse(): null {
    return null
  }

  async send(statement: Statement): Promise<Rows<readonly unknown[]>> {
    this.#assertOpen()
    const ended = this.#onStatement(statement)
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
    this.#assertOpen()
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
   * Sends the commit directly after the statements that `work` sends synchronously. Their answers can no longer roll
   * back; if one of them fails, or can't be sent, nothing is committed.
   */
  pipelineCommit<T>(work: () => Promise<T>): Promise<T> {
    const answer = work()
    let isBroken = false
    answer.catch(() => {
      isBroken = true
    })
    // By then an exception between two statements is known; all of them are sent together with the commit afterwards.
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
    // A statement failed, the caller ignored it, and the database rolled back.
    if (lastTag !== 'COMMIT')
      throw this.#failure ?? new Error('The transaction was rolled back because one of its statements failed')
  }

  /** Returns true if the server has confirmed the commit, even if the caller already knows of the lost connection. */
  async wasCommitted(): Promise<boolean> {
    const answer = await this.#committed?.catch(() => undefined)
    return answer?.lastTag === 'COMMIT'
  }

  /**
   * Returns true if a failed transaction was certainly rolled back. The status of a commit that was sent but not
   * answered is unknown. Statements are answered before the commit: the first failure tells whether it was reached.
   */
  wasRolledBack(failure: unknown, isDirect: boolean): boolean {
    return this.#committed === null || isKnownRolledBack(this.#failure ?? failure, isDirect)
  }

  async rollback(): Promise<void> {
    const isOpen = this.#state === 'open'
    this.#state = 'over'
    // After the commit's answer nothing is left to roll back, and some poolers don't allow sending anything before it.
    await this.#committed?.catch(() => undefined)
    if (isOpen && !this.#session.isClosed)
      await this.#session.send({ steps: [rollback], main: 0 }).catch(() => undefined)
  }

  #assertOpen(): void {
    if (this.#state === 'over' || this.#state === 'ending')
      throw new Error('A statement was sent in a transaction that has ended')
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
    return this.#recordFailure(this.#session.send(request))
  }

  async #script(text: string): Promise<Answer> {
    if (this.#state === 'new') {
      this.#state = 'open'
      await this.#recordFailure(this.#session.send({ steps: this.#opening, main: 0 }))
    }
    return this.#recordFailure(this.#session.send(scriptOf(text)))
  }

  async #recordFailure<T>(sent: Promise<T>): Promise<T> {
    try {
      return await sent
    } catch (error) {
      this.#failure ??= error
      // Statements after the first failure only report an aborted transaction, so the first failure is thrown instead.
      throw sqlState(error) === '25P02' ? this.#failure : error
    }
  }
}
