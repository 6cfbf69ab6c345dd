import timers from 'node:timers/promises'
import type pg from 'pg'
import { connectTimeoutMs, type WaitBudget } from '../scheduling/work-context.ts'
import { AddressProblem } from './address.ts'
import type { Connect } from './connect.ts'
import { ConnectionLost, endsSession, isOfServer, NoConnection, sqlState } from './failures.ts'
import { direct, type SessionMode } from './pooler.ts'
import { ConnectBackoff } from './retry-rules.ts'
import { Session } from './session.ts'

export interface PoolOptions {
  /** Maximum number of connections. */
  size: number
  /** Time that a request waits for a connection. */
  connectTimeoutMs?: number | undefined
  silenceMs?: number | undefined
  /** Opens a connection, with its own timeout. */
  connect: Connect
  /** Behind a pooler: determines how a new connection can be used. */
  findSessionMode?: ((client: pg.Client) => Promise<SessionMode>) | undefined
}

interface Waiter {
  isAlone: boolean
  resolve(session: Session): void
  reject(error: unknown): void
  timer: NodeJS.Timeout
}

const patienceMs = 5_000
/** A statement that runs longer may be slow: others use another connection. */
const slowMs = 10
const watchMs = 500
/** Errors that would recur at every attempt. */
const lasting = new Set(['28P01', '28000', '3D000', '42501', '28P02'])

/**
 * Connections, opened on demand. A transaction has its own connection. Single statements of one owner share a few
 * connections by pipelining, which costs the database and the process much less. Statements of other owners never queue
 * behind them while another connection is available.
 */
export class Pool {
  readonly #options: PoolOptions
  readonly #sessions: Session[] = []
  /** Sessions that are closing; they don't count against the size. */
  readonly #leaving = new Set<Session>()
  readonly #waiting: Waiter[] = []
  readonly #watch: NodeJS.Timeout
  readonly #backoff = new ConnectBackoff()
  readonly #closing = new AbortController()
  readonly #drained = Promise.withResolvers<void>()
  #opening = 0
  #lastFailure: unknown

  constructor(options: PoolOptions) {
    this.#options = options
    this.#watch = setInterval(() => this.#endSilent(), watchMs).unref()
  }

  /** Returns a connection for one statement. Reads (`isLight`) may be pipelined behind others of their owner. */
  forStatement(owner: string, isLight: boolean, waits: WaitBudget | null = null): Session | Promise<Session> {
    const session = (isLight ? this.#sharedSession(owner) : null) ?? this.#leastBusy(true) ?? this.#leastBusyIfFull()
    if (session === null) return this.#wait(false, waits)
    session.owner = owner
    return session
  }

  /** Returns an exclusive connection, until it is released. */
  async take(waits: WaitBudget | null = null): Promise<Session> {
    const session = this.#leastBusy(true) ?? this.#leastBusyIfFull() ?? (await this.#wait(true, waits))
    session.isAlone = true
    session.owner = ''
    return session
  }

  release(session: Session, error?: unknown): void {
    session.reset()
    if (isOfServer(error)) this.doubt(session)
    if (session.isInTransaction) session.retire()
    session.isAlone = false
    this.#onIdle(session)
  }

  /** Must be called when a request of a session has ended. */
  settled(session: Session, error?: unknown): void {
    if (error instanceof ConnectionLost || endsSession(error)) this.doubt(session)
    this.#onIdle(session)
  }

  /**
   * Must be called when a session has ended or its server no longer accepts writes. Retires all sessions, because they
   * lead to the same server and new ones may not: a retry must not use one that is about to end too.
   */
  doubt(session: Session): void {
    if (session.isRetired) return
    session.retire()
    this.#retireAll()
  }

  /** Whether sessions are direct, so that errors come from the server and not from a pooler. */
  get isDirect(): boolean {
    return this.#options.findSessionMode === undefined
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async close(graceMs: number): Promise<void> {
    this.#closing.abort(new NoConnection())
    clearInterval(this.#watch)
    this.#refuseAll()
    this.#retireAll()
    if (this.#isEmpty()) return
    const timer = setTimeout(() => {
      for (const session of [...this.#sessions, ...this.#leaving]) session.destroy()
    }, graceMs)
    await this.#drained.promise
    clearTimeout(timer)
  }

  /** Returns one of the few sessions that pipeline the statements of an owner. */
  #sharedSession(owner: string): Session | null {
    const few = Math.ceil(this.#options.size * 0.3)
    const now = performance.now()
    let best: Session | null = null
    let seen = 0
    for (const session of this.#sessions) {
      if (seen === few) break
      if (!session.isFit || session.isAlone) continue
      seen++
      if (session.inFlight === 0) return session
      const fits = session.isOpenForMore && session.owner === owner && session.waitedMs(now) < slowMs
      if (fits && session.inFlight < (best?.inFlight ?? Number.POSITIVE_INFINITY)) best = session
    }
    if (best !== null && seen < few) void this.#open()
    return best
  }

  /** Returns the least busy session, searching from the end, because the first ones are used for pipelining. */
  #leastBusy(onlyIdle: boolean, except?: ReadonlySet<Session>): Session | null {
    let best: Session | null = null
    for (let n = this.#sessions.length - 1; n >= 0; n--) {
      const session = this.#sessions[n] as Session
      if (!session.isFit || session.isAlone || !session.isOpenForMore || except?.has(session)) continue
      if (onlyIdle && session.inFlight > 0) continue
      if (session.inFlight < (best?.inFlight ?? Number.POSITIVE_INFINITY)) best = session
      if (best?.inFlight === 0) return best
    }
    return best
  }

  /** Returns the least busy session if all exist and none is idle. */
  #leastBusyIfFull(): Session | null {
    return this.#sessions.length < this.#options.size ? null : this.#leastBusy(false)
  }

  #wait(isAlone: boolean, waits: WaitBudget | null): Promise<Session> {
    if (this.#isClosed) return Promise.reject(new NoConnection())
    const waitedMs = waits?.ms(performance.now()) ?? 0
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
          reject(new NoConnection(this.#lastFailure))
        },
        connectTimeoutMs(waitedMs, this.#options.connectTimeoutMs ?? patienceMs),
      )
      const waiter: Waiter = { isAlone, resolve, reject, timer }
      this.#waiting.push(waiter)
      void this.#open()
    })
  }

  async #open(): Promise<void> {
    if (this.#isClosed || this.#sessions.length + this.#opening >= this.#options.size) return
    // While the database does not answer, one attempt at a time is enough.
    if (this.#backoff.haveFailed && this.#opening > 0) return
    this.#opening++
    const { signal } = this.#closing
    try {
      const pauseMs = this.#backoff.pauseMs(performance.now())
      if (pauseMs > 0) await timers.setTimeout(pauseMs, undefined, { signal })
      await this.#connect(signal)
      this.#lastFailure = undefined
    } catch (error) {
      this.#lastFailure = error
      const isLasting = lasting.has(sqlState(error)) || error instanceof AddressProblem
      if (isLasting) this.#refuseAll(error)
    } finally {
      this.#opening--
      if (this.#isClosed) this.#retireAll()
      this.#serve()
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { connect, findSessionMode, silenceMs } = this.#options
    const attempt = this.#backoff.begin(performance.now())
    try {
      const client = await connect(signal)
      const mode = findSessionMode === undefined ? direct : await findSessionMode(client)
      attempt.succeeded()
      const session = new Session(client, { mode, silenceMs, onEnd: (ended) => this.#forget(ended) })
      if (findSessionMode === undefined) session.watchCaller()
      this.#sessions.push(session)
    } catch (error) {
      attempt.failed()
      throw error
    }
  }

  #forget(session: Session): void {
    const at = this.#sessions.indexOf(session)
    if (at !== -1) this.#sessions.splice(at, 1)
    this.#leaving.delete(session)
    this.#serve()
  }

  #onIdle(session: Session): void {
    if (!session.isFit) this.#retire(session)
    if (this.#waiting.length > 0) this.#serve()
  }

  #retire(session: Session): void {
    session.retire()
    if (session.inFlight > 0 || session.isAlone || session.isOver) return
    const at = this.#sessions.indexOf(session)
    if (at === -1) return
    this.#sessions.splice(at, 1)
    this.#leaving.add(session)
    session.end()
  }

  #retireAll(): void {
    for (const session of [...this.#sessions]) this.#retire(session)
  }

  #isEmpty(): boolean {
    return this.#sessions.length + this.#leaving.size + this.#opening === 0
  }

  #serve(): void {
    if (this.#isClosed && this.#isEmpty()) this.#drained.resolve()
    const given = new Set<Session>()
    while (this.#waiting.length > 0) {
      const session = this.#leastBusy(true, given) ?? this.#leastBusyIfFull()
      if (session === null) break
      const waiter = this.#waiting.shift() as Waiter
      clearTimeout(waiter.timer)
      // Set here, so that two waiters served in this loop don't get the same session.
      given.add(session)
      session.isAlone = waiter.isAlone
      waiter.resolve(session)
    }
    // One per waiter, so that after an outage the first new connection need not serve all of them.
    for (let n = this.#opening; n < this.#waiting.length; n++) void this.#open()
  }

  #refuseAll(reason?: unknown): void {
    for (const { timer, reject } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      reject(new NoConnection(reason))
    }
  }

  #endSilent(): void {
    const now = performance.now()
    const silent = this.#sessions.filter((session) => session.isSilent(now))
    const isServer = silent.some((session) => session.isLongSilent(now))
    for (const session of silent) session.giveUp()
    // Idle sessions lead to the same server, and would be found silent one after another.
    if (isServer) this.#retireAll()
  }
}
