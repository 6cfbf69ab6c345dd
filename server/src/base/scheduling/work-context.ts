import { AsyncLocalStorage } from 'node:async_hooks'
import { problemOf, type Span, type SpanFields, type SpanKind } from '../tracing/span.ts'

/**
 * For whom something is done. It goes with the flow of calls rather than with their arguments: it decides nothing but
 * in whose turn the database is asked and for how long, whether a transaction is being gone round, and of which trace it is a part.
 */
export interface WorkContext {
  /** A workspace, or one of the two below. */
  owner: string
  /** Within an owner, lanes take turns as well. */
  lane: string
  readonly transaction: OpenTransaction | null
  /** Null where nothing is traced. */
  readonly span: Span | null
  /** Null where nobody waits for an answer: what the service does has the time that it takes. */
  readonly waitBudget: WaitBudget | null
}

interface OpenTransaction {
  /** Whose transaction it is: another database's connections are another matter. */
  db: object
  /** What was begun inside may go on after the end, as timers and caches do. */
  isOpen: boolean
  outer: OpenTransaction | null
}

/** What the program does unasked, and what it does for all alike. */
export const serviceOwner = 'service'
/** Requests of which nobody knows yet for which workspace they are. */
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

/** A request's work, before its sender is known. What asks for one thing waits in one lane. */
export const requestContext = (lane: string, span: Span | null = null): WorkContext => ({
  owner: unknownOwner,
  lane,
  transaction: null,
  span,
  waitBudget: new WaitBudget(),
})

export const runInContext = <T>(work: WorkContext, run: () => T): T => contexts.run(work, run)

export const runAsService = <T>(run: () => T): T => contexts.run(serviceContext, run)

/** The same in the time that those have who wait for it now. */
export const runAsServiceFor = <T>(run: () => T): T =>
  contexts.run({ ...serviceContext, waitBudget: currentContext().waitBudget }, run)

/** From here on the request takes as long as it takes: its answer has begun, or what it sends is still arriving. */
export const stopWaitBudget = (): void => currentContext().waitBudget?.over()

/** Does something in the time that is left to somebody else as well: they wait for it. */
export const runWithBudget = <T>(waitBudget: WaitBudget | null, run: () => T): T =>
  contexts.run({ ...currentContext(), waitBudget }, run)

/** For what is begun inside a transaction that does not wait for it: it may have a connection of its own. */
export function outsideTransaction<T>(run: () => T): T {
  return contexts.run({ ...currentContext(), transaction: null }, run)
}

/** Says for which workspace the request is that is being served, for all that it still does. */
export function setWorkspace(workspaceId: string): void {
  const work = contexts.getStore()
  if (work?.owner !== unknownOwner) return
  work.owner = workspaceId
  work.lane = ''
}

/** Does something as the work of this span, which ends with it. */
export async function inSpan<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    const answer = await contexts.run({ ...currentContext(), span }, run)
    span.end()
    return answer
  } catch (error) {
    span.end(problemOf(error))
    throw error
  }
}

/** Does something as a part of the trace that is under way, if there is one; `run` is handed the part. */
export function traced<T>(
  kind: SpanKind,
  name: string,
  fields: SpanFields,
  run: (span: Span | null) => Promise<T>,
): Promise<T> {
  const { span } = currentContext()
  if (span === null || !span.isKept) return run(span)
  const part = span.child(kind, name, fields)
  return inSpan(part, () => run(part))
}

/**
 * Does at once what several have asked for, as a part of the trace of the first of those that are kept; it is linked to the
 * others.
 */
export function tracedBatch<T>(spans: readonly (Span | null)[], run: () => Promise<T>): Promise<T> {
  const traces = spans.filter((span) => span !== null)
  const [first = traces[0], ...others] = traces.filter(({ isKept }) => isKept)
  if (first === undefined) return run()
  if (spans.length > 1 && first.isKept) {
    return inSpan(first.child('internal', 'together', { 'parley.count': spans.length }, others), run)
  }
  return contexts.run({ ...currentContext(), span: first }, run)
}

/** The work in a transaction of this database. `isOpen` is to be taken back when it ends. */
export function transactionContext(db: object): WorkContext & { transaction: OpenTransaction } {
  const work = currentContext()
  return { ...work, transaction: { db, isOpen: true, outer: work.transaction } }
}

export function isInTransaction(db: object): boolean {
  let transaction = contexts.getStore()?.transaction ?? null
  while (transaction !== null && !(transaction.isOpen && transaction.db === db)) transaction = transaction.outer
  return transaction !== null
}

/** The same items for an answer, each of them made as part of the work that asks now: a stream is read on nobody's account. */
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

/** Nothing that is to be answered within 20 s takes so long: it is a call that waits for news, and each of its looks counts by itself. */
const resetAfterMs = 30_000

/** How long a request has waited for the database so far, all that it asks together. What it waits for at the same time counts once. */
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

  /** What is being done already counts until it has ended. */
  during<T>(doing: Promise<T>): Promise<T> {
    this.begin(performance.now())
    return doing.finally(() => this.end(performance.now()))
  }

  /** Nobody waits for an answer any more: what is still asked has the time that it takes. */
  over(): void {
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
 * A request is answered within 20 s, however many things it waits for one after the other: what it has waited so far is taken off the
 * time that it has for the next. Nobody waits for what is at hand, so who has none left is served as long as all goes well.
 */
const maxQueueMs = 13_000
const maxConnectMs = 14_000
const minMs = 250
const minResponseMs = 1_000

/** Who has waited for longer than this has less time for an answer of the database. */
export const freeWaitMs = 500
/** A server that works says something within this, but for rare moments; not less, as long as there is time. */
const minSilenceMs = 4_000

/** For a turn, and for a connection, each of which has a most of its own. */
export const turnMs = (waitedMs: number, mostMs: number): number => clamp(maxQueueMs - waitedMs, minMs, mostMs)
export const connectTimeoutMs = (waitedMs: number, mostMs: number): number =>
  clamp(maxConnectMs - waitedMs, minMs, mostMs)

/** For one answer, after which the server counts as silent. */
export function responseTimeoutMs(waitedMs: number, mostMs: number): number {
  const least = Math.min(minSilenceMs, transactionTimeoutMs(waitedMs, mostMs))
  return clamp(mostMs + freeWaitMs - waitedMs, least, mostMs)
}

/** For all answers of a transaction together. */
export const transactionTimeoutMs = (waitedMs: number, mostMs: number): number =>
  Math.max(mostMs + 2_500 - waitedMs, minResponseMs)

/** Whether somebody who has said nothing for so long is likely to say nothing to others either. */
export const isLong = (silentMs: number, mostMs: number): boolean => silentMs >= Math.min(minSilenceMs, mostMs)

const clamp = (ms: number, least: number, most: number): number => Math.max(Math.min(ms, most), Math.min(least, most))
