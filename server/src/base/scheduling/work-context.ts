import { AsyncLocalStorage } from 'node:async_hooks'
import { errorClass, type Span, type SpanFields, type SpanKind } from '../tracing/span.ts'

/**
 * Context of the current work. Propagated by AsyncLocalStorage instead of arguments, because it only affects scheduling
 * and timeouts of the database, the detection of second connections, and tracing.
 */
export interface WorkContext {
  /** A workspace, `serviceOwner` or `unknownOwner`. */
  owner: string
  /** Lanes of an owner are scheduled fairly too. */
  lane: string
  readonly transaction: OpenTransaction | null
  /** Null if nothing is traced. */
  readonly span: Span | null
  /** Null if no caller waits for a response: background work has no time limit. */
  readonly waitBudget: WaitBudget | null
}

interface OpenTransaction {
  /** The database of the transaction. Connections to other databases are allowed. */
  db: object
  /** False after the end; timers and caches started inside may continue. */
  isOpen: boolean
  outer: OpenTransaction | null
}

/** Owner of background work and of work shared by all. */
export const serviceOwner = 'service'
/** Owner of requests whose workspace is not known yet. */
export const unknownOwner = 'door'

const serviceContext: WorkContext = Object.freeze({
  owner: serviceOwner,
  lane: '',
  transaction: null,
  span: null,
  waitBudget: null,
})
const contexts = new AsyncLocalStorage<WorkContext>()

export const currentContext = (): WorkContext => contexts.getStore() ?? serviceContext

/** Returns the context of a request before authentication. Requests for one resource share a lane. */
export const requestContext = (lane: string, span: Span | null = null): WorkContext => ({
  owner: unknownOwner,
  lane,
  transaction: null,
  span,
  waitBudget: new WaitBudget(),
})

export const runInContext = <T>(work: WorkContext, run: () => T): T => contexts.run(work, run)

export const runAsService = <T>(run: () => T): T => contexts.run(serviceContext, run)

/** The same, with the wait budget of the current caller. */
export const runAsServiceFor = <T>(run: () => T): T =>
  contexts.run({ ...serviceContext, waitBudget: currentContext().waitBudget }, run)

/** Removes the time limit of the request: its response has started, or its body is still arriving. */
export const stopWaitBudget = (): void => currentContext().waitBudget?.stop()

/** Runs work with the wait budget of another caller, who waits for it. */
export const runWithBudget = <T>(waitBudget: WaitBudget | null, run: () => T): T =>
  contexts.run({ ...currentContext(), waitBudget }, run)

/** Runs work that is started inside a transaction, but not awaited by it: it may use its own connection. */
export function outsideTransaction<T>(run: () => T): T {
  return contexts.run({ ...currentContext(), transaction: null }, run)
}

/** Sets the workspace of the current request for the rest of its work. */
export function setWorkspace(workspaceId: string): void {
  const work = contexts.getStore()
  if (work?.owner !== unknownOwner) return
  work.owner = workspaceId
  work.lane = ''
}

/** Runs work in this span, and ends the span. */
export async function inSpan<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    const answer = await contexts.run({ ...currentContext(), span }, run)
    span.end()
    return answer
  } catch (error) {
    span.end(errorClass(error))
    throw error
  }
}

/** Runs work in a child span of the current trace, if there is one, and passes the span. */
export function traced<T>(
  kind: SpanKind,
  name: string,
  fields: SpanFields,
  run: (span: Span | null) => Promise<T>,
): Promise<T> {
  const { span } = currentContext()
  if (span === null || !span.isSampled) return run(span)
  const childSpan = span.child(kind, name, fields)
  return inSpan(childSpan, () => run(childSpan))
}

/** Runs work for several requests at once, as part of the trace of the first sampled one, with links to the others. */
export function tracedBatch<T>(spans: readonly (Span | null)[], run: () => Promise<T>): Promise<T> {
  const traces = spans.filter((span) => span !== null)
  const [first = traces[0], ...others] = traces.filter(({ isSampled }) => isSampled)
  if (first === undefined) return run()
  if (spans.length > 1 && first.isSampled) {
    return inSpan(first.child('internal', 'together', { 'parley.count': spans.length }, others), run)
  }
  return contexts.run({ ...currentContext(), span: first }, run)
}

/** Returns the context of work in a transaction. The caller sets `isOpen` to false at its end. */
export function transactionContext(db: object): WorkContext & { transaction: OpenTransaction } {
  const work = currentContext()
  return { ...work, transaction: { db, isOpen: true, outer: work.transaction } }
}

export function isInTransaction(db: object): boolean {
  let transaction = contexts.getStore()?.transaction ?? null
  while (transaction !== null && !(transaction.isOpen && transaction.db === db)) transaction = transaction.outer
  return transaction !== null
}

/** Returns a stream whose items are produced in the current context: streams are read outside of it. */
export function streamInContext<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  stopWaitBudget()
  return itemsOf(currentContext(), items)
}

async function* itemsOf<T>(work: WorkContext, items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await runInContext(work, () => iterator.next())
      if (done === true) return
      yield value
    }
  } finally {
    await runInContext(work, () => iterator.return?.())
  }
}

/** A longer wait is a long poll, because other requests end within 20 s; each query of a poll counts separately. */
const resetAfterMs = 30_000

/** Time that a request has waited for the database in total. Parallel waits count once. */
export class WaitBudget {
  #doneMs = 0
  #open = 0
  #sinceMs = 0
  #firstMs = Number.NEGATIVE_INFINITY
  #isOver = false

  begin(nowMs: number): void {
    if (this.#open++ > 0) return
    this.#sinceMs = nowMs
    if (nowMs - this.#firstMs < resetAfterMs) return
    this.#firstMs = nowMs
    this.#doneMs = 0
  }

  end(nowMs: number): void {
    if (--this.#open === 0) this.#doneMs += nowMs - this.#sinceMs
  }

  /** Counts work in progress until it ends. */
  during<T>(work: Promise<T>): Promise<T> {
    this.begin(performance.now())
    return work.finally(() => this.end(performance.now()))
  }

  /** Ends the time limit, because no caller waits for a response. */
  stop(): void {
    this.#isOver = true
  }

  get isOver(): boolean {
    return this.#isOver
  }

  ms(nowMs: number): number {
    if (this.#isOver || nowMs - this.#firstMs >= resetAfterMs) return 0
    return this.#doneMs + (this.#open > 0 ? nowMs - this.#sinceMs : 0)
  }
}

/**
 * Every request is answered within 20 s, however many waits it has one after another: time already waited is subtracted
 * from the time for the next wait. Without remaining time a request still succeeds if nothing makes it wait.
 */
const maxQueueMs = 13_000
const maxConnectMs = 14_000
const minMs = 250
const minResponseMs = 1_000

/** Longer waits reduce the time for an answer of the database. */
export const freeWaitMs = 500
/** A healthy server almost always answers within this time. The timeout is not shorter while time remains. */
const minSilenceMs = 4_000

/** Timeout for a slot of the fair queue, and for a connection, each with its own maximum. */
export const queueTimeoutMs = (waitedMs: number, maxMs: number): number => clamp(maxQueueMs - waitedMs, minMs, maxMs)
export const connectTimeoutMs = (waitedMs: number, maxMs: number): number =>
  clamp(maxConnectMs - waitedMs, minMs, maxMs)

/** Timeout for one answer, after which the server counts as silent. */
export function responseTimeoutMs(waitedMs: number, maxMs: number): number {
  const min = Math.min(minSilenceMs, transactionTimeoutMs(waitedMs, maxMs))
  return clamp(maxMs + freeWaitMs - waitedMs, min, maxMs)
}

/** Timeout for all answers of a transaction together. */
export const transactionTimeoutMs = (waitedMs: number, maxMs: number): number =>
  Math.max(maxMs + 2_500 - waitedMs, minResponseMs)

/** Returns true if a server that was silent for this long is probably silent for others too. */
export const isLong = (silentMs: number, maxMs: number): boolean => silentMs >= Math.min(minSilenceMs, maxMs)

const clamp = (ms: number, min: number, max: number): number => Math.max(Math.min(ms, max), Math.min(min, max))
