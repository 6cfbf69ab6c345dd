import type pg from 'pg'
import {
  freeWaitMs,
  isLong,
  responseTimeoutMs,
  transactionTimeoutMs,
  type WaitBudget,
} from '../scheduling/work-context.ts'
import { type Answer, Exchange, PreparedStatements, planOf, type Request } from './exchange.ts'
import { ConnectionLost, endsSession } from './failures.ts'
import type { SessionMode } from './pooler.ts'

/** Makes the database detect a lost client during a statement, not only at its answer. Some systems can't. */
const watchCaller: Request = {
  steps: [
    {
      plan: planOf({ text: `select set_config('client_connection_check_interval', '2s', false)`, types: [] }),
      values: [],
    },
  ],
  main: 0,
}
/** Exceeds the statement timeout of 15 s: a server that is silent for longer is unreachable. */
const silenceMs = 16_000

/** A server that doesn't close its side within this time is unreachable. */
const closeTimeoutMs = 5_000

export interface SessionOptions {
  mode: SessionMode
  silenceMs?: number | undefined
  onEnd(session: Session): void
}

/** An open connection. Answers requests in order. */
export class Session {
  readonly #client: pg.Client
  readonly #prepared: PreparedStatements
  readonly #maxSilenceMs: number
  readonly #outbox: Buffer[] = []
  readonly #onEnd: (session: Session) => void
  #inFlight = 0
  /** Number of requests, and how many of them were sent. */
  #requested = 0
  #sent = 0
  /** Start of the wait for the next answer. */
  #since = 0
  #silenceMs: number
  /** Deadline of all answers until `reset`. */
  #deadlineMs = Number.POSITIVE_INFINITY
  #isEnded = false
  #isStale = false
  #isRetired = false
  #wasSilent = false
  #closeTimer: NodeJS.Timeout | undefined
  #onLost: (error: ConnectionLost) => void = () => {}
  readonly mode: SessionMode
  /** Current owner, and whether the session is exclusive. */
  owner = ''
  isExclusive = false

  constructor(client: pg.Client, options: SessionOptions) {
    this.#client = client
    this.mode = options.mode
    this.#prepared = new PreparedStatements(options.mode.names)
    this.#onEnd = options.onEnd
    this.#maxSilenceMs = options.silenceMs ?? silenceMs
    this.#silenceMs = this.#maxSilenceMs
    client.on('error', () => this.destroy())
    client.on('end', () => this.destroy())
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether it works and accepts further requests. */
  get isUsable(): boolean {
    return !this.#isEnded && !this.#isStale && !this.#isRetired
  }

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** Whether it accepts another request now. */
  get isOpenForMore(): boolean {
    return this.#inFlight === 0 || this.mode.isPipelined
  }

  get isClosed(): boolean {
    return this.#isEnded
  }

  /** By the server's last report: a session with an open transaction must not be reused. */
  get isInTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I'
  }

  /** Returns how long the next answer has been awaited. */
  waitedMs(nowMs: number): number {
    return this.#inFlight === 0 ? 0 : nowMs - this.#since
  }

  isSilent(nowMs: number): boolean {
    return this.waitedMs(nowMs) > this.#silenceMs || (this.#inFlight > 0 && nowMs > this.#deadlineMs)
  }

  /** Whether other sessions of this server are probably silent too. */
  isLongSilent(nowMs: number): boolean {
    return isLong(this.waitedMs(nowMs), this.#maxSilenceMs)
  }

  /** Sets the time that a statement may take until the end of the transaction. */
  extendTimeout(ms: number): void {
    this.#silenceMs = Math.max(ms + 3_000, this.#maxSilenceMs)
    this.#deadlineMs = Number.POSITIVE_INFINITY
  }

  /** Shortens the timeout until `reset`, because the caller has waited this long already. Returns true if changed. */
  shortenTimeout(waitedMs: number): boolean {
    if (waitedMs <= freeWaitMs) return false
    this.#silenceMs = responseTimeoutMs(waitedMs, this.#maxSilenceMs)
    return true
  }

  /** The same for a transaction, whose statements together also have a deadline if a caller waits. */
  shortenTimeouts(waitBudget: WaitBudget | null): void {
    if (waitBudget === null || waitBudget.isOver) return
    const nowMs = performance.now()
    const waitedMs = waitBudget.ms(nowMs)
    this.shortenTimeout(waitedMs)
    this.#deadlineMs = nowMs + transactionTimeoutMs(waitedMs, this.#maxSilenceMs)
  }

  /** Lets the database cancel statements when this client is gone. Not awaited, so it doesn't count as in flight. */
  watchCaller(): void {
    if (!this.#isEnded) this.#enqueue(watchCaller).catch(() => undefined)
  }

  async send(request: Request): Promise<Answer> {
    if (this.#isEnded) throw new ConnectionLost(undefined, { wasSent: false })
    const answer = this.#enqueue(request)
    const number = this.#requested
    if (this.#inFlight++ === 0) this.#since = performance.now()
    try {
      return await answer
    } catch (error) {
      const failure = error instanceof ConnectionLost ? this.#lostError(error.cause, number) : error
      if (endsSession(failure)) this.#isStale = true
      // The driver would leave further statements unanswered after the end of the connection.
      else if (failure instanceof ConnectionLost) this.destroy()
      throw failure
    } finally {
      this.#inFlight--
      this.#since = performance.now()
    }
  }

  /** Returns the result of the work, or throws `ConnectionLost` as soon as the connection ends. One at a time. */
  whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isEnded) return Promise.reject(new ConnectionLost(undefined, { wasSent: false }))
    return new Promise<T>((resolve, reject) => {
      this.#onLost = reject
      work().then(resolve, reject)
    }).finally(() => {
      this.#onLost = () => {}
    })
  }

  /** Marks it to be closed when its current requests have ended. */
  retire(): void {
    this.#isRetired = true
  }

  /** Closes it when all requests are answered. */
  end(): void {
    this.#flush()
    this.#client.end().catch(() => undefined)
    this.#closeTimer = setTimeout(() => this.destroy(), closeTimeoutMs).unref()
  }

  /** Closes it because it was silent for too long. */
  closeSilent(): void {
    this.#wasSilent = true
    this.destroy()
  }

  /** Closes it immediately; requests in progress fail. */
  destroy(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#outbox.length = 0
    clearTimeout(this.#closeTimer)
    // Also if the driver has given up: it leaves the socket open.
    this.#client.connection.stream.destroy(new Error('The connection was closed'))
    this.#onLost(this.#lostError(undefined, 0))
    this.#onEnd(this)
  }

  /** Restores the timeouts after a transaction or a shortened statement. */
  reset(): void {
    this.#silenceMs = this.#maxSilenceMs
    this.#deadlineMs = Number.POSITIVE_INFINITY
  }

  #enqueue(request: Request): Promise<Answer> {
    const exchange = new Exchange(request, this.#prepared)
    const bytes = exchange.bytes()
    this.#requested++
    this.#client.query(exchange as unknown as pg.Submittable)
    this.#write(bytes)
    return exchange.answer
  }

  /** Creates the error of a request, given its number, when the connection ends. */
  #lostError(cause: unknown, number: number): ConnectionLost {
    const { processID: pid = null } = this.#client as { processID?: number | null }
    return new ConnectionLost(cause, { wasSent: number <= this.#sent, wasSilent: this.#wasSilent, pid })
  }

  #write(bytes: readonly Buffer[]): void {
    // Combines requests of one tick: a system call costs more than a statement.
    if (this.#outbox.length === 0) setImmediate(() => this.#flush())
    for (const part of bytes) this.#outbox.push(part)
  }

  #flush(): void {
    if (this.#outbox.length === 0) return
    const bytes = Buffer.concat(this.#outbox)
    this.#outbox.length = 0
    const { stream } = this.#client.connection
    if (!stream.writable) return
    this.#sent = this.#requested
    stream.write(bytes)
  }
}
