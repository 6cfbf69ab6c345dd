import type pg from 'pg'
import {
  freeWaitMs,
  isLong,
  responseTimeoutMs,
  transactionTimeoutMs,
  type WaitBudget,
} from '../scheduling/work-context.ts'
import { type Answer, Exchange, Prepared, planOf, type Request } from './exchange.ts'
import { ConnectionLost, endsSession } from './failures.ts'
import type { SessionMode } from './pooler.ts'

/** By itself the database finds out that nobody waits for a statement when it answers. Some systems cannot tell it sooner. */
const watchCaller: Request = {
  steps: [
    {
      plan: planOf({ text: `select set_config('client_connection_check_interval', '2s', false)`, types: [] }),
      values: [],
    },
  ],
  main: 0,
}
/** Longer than any statement may take, 15 s: who says nothing for so long is not there any more. */
const silenceMs = 16_000

/** A server that does not close its side in this time is gone. */
const goodbyeMs = 5_000

export interface SessionOptions {
  mode: SessionMode
  silenceMs?: number | undefined
  onEnd(session: Session): void
}

/** An open connection. What is asked of it is answered in its order. */
export class Session {
  readonly #client: pg.Client
  readonly #prepared: Prepared
  readonly #patience: number
  readonly #outbox: Buffer[] = []
  readonly #onEnd: (session: Session) => void
  #inFlight = 0
  /** How many requests it was given, and how many of them have left. */
  #asked = 0
  #sent = 0
  /** Since when what is answered next has been on its way. */
  #since = 0
  #silenceMs: number
  /** When all that is asked of it until `reset` is to have been answered. */
  #endsAtMs = Number.POSITIVE_INFINITY
  #isOver = false
  #isStale = false
  #isRetired = false
  #wasSilent = false
  #goodbye: NodeJS.Timeout | undefined
  #onLost: (error: ConnectionLost) => void = () => {}
  readonly mode: SessionMode
  /** Whoever is served at the moment, and whether nobody else is to be meanwhile. */
  owner = ''
  isAlone = false

  constructor(client: pg.Client, options: SessionOptions) {
    this.#client = client
    this.mode = options.mode
    this.#prepared = new Prepared(options.mode.names)
    this.#onEnd = options.onEnd
    this.#patience = options.silenceMs ?? silenceMs
    this.#silenceMs = this.#patience
    client.on('error', () => this.destroy())
    client.on('end', () => this.destroy())
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether it still answers, and may be used for more. */
  get isFit(): boolean {
    return !this.#isOver && !this.#isStale && !this.#isRetired
  }

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** Whether it may be asked one thing more right now. */
  get isOpenForMore(): boolean {
    return this.#inFlight === 0 || this.mode.isPipelined
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** What the server said last: whatever happened, nobody else may come into a transaction that is not at its end. */
  get isInTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I'
  }

  /** How long what is answered next has been on its way. */
  waitedMs(nowMs: number): number {
    return this.#inFlight === 0 ? 0 : nowMs - this.#since
  }

  isSilent(nowMs: number): boolean {
    return this.waitedMs(nowMs) > this.#silenceMs || (this.#inFlight > 0 && nowMs > this.#endsAtMs)
  }

  /** Whether others of this server are likely to be silent as well. */
  isLongSilent(nowMs: number): boolean {
    return isLong(this.waitedMs(nowMs), this.#patience)
  }

  /** Statements may take so long until the end of the transaction. */
  allow(ms: number): void {
    this.#silenceMs = Math.max(ms + 3_000, this.#patience)
    this.#endsAtMs = Number.POSITIVE_INFINITY
  }

  /** Somebody has waited for so long already: until `reset` it is given up the sooner. Returns whether that was long enough to matter. */
  hurry(waitedMs: number): boolean {
    if (waitedMs <= freeWaitMs) return false
    this.#silenceMs = responseTimeoutMs(waitedMs, this.#patience)
    return true
  }

  /** The same for a transaction, whose statements have so much time together as well, where somebody waits for their answer. */
  hurryAll(waits: WaitBudget | null): void {
    if (waits === null || waits.isOver) return
    const nowMs = performance.now()
    const waitedMs = waits.ms(nowMs)
    this.hurry(waitedMs)
    this.#endsAtMs = nowMs + transactionTimeoutMs(waitedMs, this.#patience)
  }

  /** Asks the database to end what it does for us should we be gone. Nobody waits for it, so it is not in flight. */
  watchCaller(): void {
    if (!this.#isOver) this.#ask(watchCaller).catch(() => undefined)
  }

  async send(request: Request): Promise<Answer> {
    if (this.#isOver) throw new ConnectionLost(undefined, { wasSent: false })
    const answer = this.#ask(request)
    const turn = this.#asked
    if (this.#inFlight++ === 0) this.#since = performance.now()
    try {
      return await answer
    } catch (error) {
      const failure = error instanceof ConnectionLost ? this.#loss(error.cause, turn) : error
      if (endsSession(failure)) this.#isStale = true
      // The driver answers for a connection that has ended unheard, as it would for each statement to come.
      else if (failure instanceof ConnectionLost) this.destroy()
      throw failure
    } finally {
      this.#inFlight--
      this.#since = performance.now()
    }
  }

  /** The answer of the work, or `ConnectionLost` as soon as the connection ends. One such work at a time. */
  whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isOver) return Promise.reject(new ConnectionLost(undefined, { wasSent: false }))
    return new Promise<T>((resolve, reject) => {
      this.#onLost = reject
      work().then(resolve, reject)
    }).finally(() => {
      this.#onLost = () => {}
    })
  }

  /** To be used for nothing more once what is under way has ended. */
  retire(): void {
    this.#isRetired = true
  }

  /** Closes it once it has answered everything. */
  end(): void {
    this.#flush()
    this.#client.end().catch(() => undefined)
    this.#goodbye = setTimeout(() => this.destroy(), goodbyeMs).unref()
  }

  /** Closes it since it has said nothing for too long. */
  giveUp(): void {
    this.#wasSilent = true
    this.destroy()
  }

  /** Closes it as it is: what is under way fails. */
  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#outbox.length = 0
    clearTimeout(this.#goodbye)
    // Also where it is the driver that gave up: it leaves the socket open.
    this.#client.connection.stream.destroy(new Error('The connection was given up'))
    this.#onLost(this.#loss(undefined, 0))
    this.#onEnd(this)
  }

  /** Back from a transaction, or from one who had waited. */
  reset(): void {
    this.#silenceMs = this.#patience
    this.#endsAtMs = Number.POSITIVE_INFINITY
  }

  #ask(request: Request): Promise<Answer> {
    const exchange = new Exchange(request, this.#prepared)
    const bytes = exchange.bytes()
    this.#asked++
    this.#client.query(exchange as unknown as pg.Submittable)
    this.#write(bytes)
    return exchange.answer
  }

  /** What becomes of the request of this turn when the connection ends. */
  #loss(cause: unknown, turn: number): ConnectionLost {
    const { processID: pid = null } = this.#client as { processID?: number | null }
    return new ConnectionLost(cause, { wasSent: turn <= this.#sent, wasSilent: this.#wasSilent, pid })
  }

  #write(bytes: readonly Buffer[]): void {
    // What the requests of a moment ask is sent as one: a call of the system costs more than a statement.
    if (this.#outbox.length === 0) setImmediate(() => this.#flush())
    for (const part of bytes) this.#outbox.push(part)
  }

  #flush(): void {
    if (this.#outbox.length === 0) return
    const bytes = Buffer.concat(this.#outbox)
    this.#outbox.length = 0
    const { stream } = this.#client.connection
    if (!stream.writable) return
    this.#sent = this.#asked
    stream.write(bytes)
  }
}
