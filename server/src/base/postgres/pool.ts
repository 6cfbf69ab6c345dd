import timers from 'node:timers/promises'
import type pg from 'pg'
import { connectTimeoutMs, type WaitBudget } from '../scheduling/work-context.ts'
import { DatabaseUrlError } from './address.ts'
import type { Connect } from './connect.ts'
import { ConnectionLost, endsSession, isServerDown, NoConnection, sqlState } from './failures.ts'
import { directMode, type SessionMode } from './pooler.ts'
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
  detectSessionMode?: ((client: pg.Client) => Promise<SessionMode>) | undefined
}

interface Waiter {
  isExclusive: boolean
  resolve(session: Session): void
  reject(error: unknown): void
  timer: NodeJS.Timeout
}

const defaultTimeoutMs = 5_000
/** A statement that runs longer may be slow: others use another connection. */
const slowMs = 10
const watchMs = 500
/** Errors that would recur at every attempt. */
const permanentStates = new Set(['28P01', '28000', '3D000', '42501', '28P02'])

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
  acquireForStatement(
    owner: string,
    isLight: boolean,
    waitBudget: WaitBudget | null = null,
  ): Session | Promise<Session> {
    const session = (isLight ? this.#sharedSession(owner) : null) ?? this.#leastBusy(true) ?? this.#leastBusyIfFull()
    if (session === null) return this.#wait(false, waitBudget)
    session.owner = owner
    return session
  }

  /** Returns an exclusive connection, until it is released. */
  async acquire(waitBudget: WaitBudget | null = null): Promise<Session> {
    const session = this.#leastBusy(true) ?? this.#leastBusyIfFull() ?? (await this.#wait(true, waitBudget))
    session.isExclusive = true
    session.owner = ''
    return session
  }

  release(session: Session, error?: unknown): void {
    session.reset()
    if (isServerDown(error)) this.retireServer(session)
    if (session.isInTransaction) session.retire()
    session.isExclusive = false
    this.#onIdle(session)
  }

  /** Must be called when a request of a session has ended. */
  afterRequest(session: Session, error?: unknown): void {
    if (error instanceof ConnectionLost || endsSession(error)) this.retireServer(session)
    this.#onIdle(session)
  }

  /**
   * Must be called when a session has ended or its server no longer accepts writes. Retires all sessions, because they
   * lead to the same server and new ones may not: a retry must not use one that is about to end too.
   */
  retireServer(session: Session): void {
    if (session.isRetired) return
    session.retire()
    this.#retireAll()
  }

  /** Whether sessions are direct, so that errors come from the server and not from a pooler. */
  get isDirect(): boolean {
    return this.#options.detectSessionMode === undefined
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
    const maxShared = Math.ceil(this.#options.size * 0.3)
    const now = performance.now()
    let best: Session | null = null
    let examined = 0
    for (const session of this.#sessions) {
      if (examined === maxShared) break
      if (!session.isUsable || session.isExclusive) continue
      examined++
      if (session.inFlight === 0) return session
      const fits = session.isOpenForMore && session.owner === owner && session.waitedMs(now) < slowMs
      if (fits && session.inFlight < (best?.inFlight ?? Number.POSITIVE_INFINITY)) best = session
    }
    if (best !== null && examined < maxShared) void this.#open()
    return best
  }

  /** Returns the least busy session, searching from the end, because the first ones are used for pipelining. */
  #leastBusy(onlyIdle: boolean, except?: ReadonlySet<Session>): Session | null {
    let best: Session | null = null
    for (let n = this.#sessions.length - 1; n >= 0; n--) {
      const session = this.#sessions[n] as Session
      if (!session.isUsable || session.isExclusive || !session.isOpenForMore || except?.has(session)) continue
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

  #wait(isExclusive: boolean, waitBudget: WaitBudget | null): Promise<Session> {
    if (this.#isClosed) return Promise.reject(new NoConnection())
    const waitedMs = waitBudget?.ms(performance.now()) ?? 0
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
          reject(new NoConnection(this.#lastFailure))
        },
        connectTimeoutMs(waitedMs, this.#options.connectTimeoutMs ?? defaultTimeoutMs),
      )
      const waiter: Waiter = { isExclusive, resolve, reject, timer }
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
      const isLasting = permanentStates.has(sqlState(error)) || error instanceof DatabaseUrlError
      if (isLasting) this.#refuseAll(error)
    } finally {
      this.#opening--
      if (this.#isClosed) this.#retireAll()
      this.#serve()
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { connect, detectSessionMode, silenceMs } = this.#options
    const attempt = this.#backoff.startAttempt(performance.now())
    try {
      const client = await connect(signal)
      const mode = detectSessionMode === undefined ? directMode : await detectSessionMode(client)
      attempt.succeeded()
      const session = new Session(client, { mode, silenceMs, onEnd: (ended) => this.#forget(ended) })
      if (detectSessionMode === undefined) session.watchCaller()
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
    if (!session.isUsable) this.#retire(session)
    if (this.#waiting.length > 0) this.#serve()
  }

  #retire(session: Session): void {
    session.retire()
    if (session.inFlight > 0 || session.isExclusive || session.isClosed) return
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
    const assigned = new Set<Session>()
    while (this.#waiting.length > 0) {
      const session = this.#leastBusy(true, assigned) ?? this.#leastBusyIfFull()
      if (session === null) break
      const waiter = this.#waiting.shift() as Waiter
      clearTimeout(waiter.timer)
      // Set here, so that two waiters served in this loop don't get the same session.
      assigned.add(session)
      session.isExclusive = waiter.isExclusive
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
    for (const session of silent) session.closeSilent()
    // Idle sessions lead to the same server, and would be found silent one after another.
    if (isServer) this.#retireAll()
  }
}
