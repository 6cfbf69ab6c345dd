import { AsyncLocalStorage } from 'node:async_hooks'
import { problemOf, type Span, type SpanFields, type SpanKind } from '../tracing/span.ts'

/**
 * For whom something is done. It goes with the flow of calls rather than with their arguments: it decides nothing but
 * in whose turn the database is asked and for how long, whether a transaction is being gone round, and of which trace it is a part.
 */
export interface Work {
  /** A workspace, or one of the two below. */
  owner: string
  /** Within an owner, lanes take turns as well. */
  lane: string
  readonly transaction: OpenTransaction | null
  /** Null where nothing is traced. */
  readonly span: Span | null
  /** Null where nobody waits for an answer: what the service does has the time that it takes. */
  readonly waits: Waits | null
}

interface OpenTransaction {
  /** Whose transaction it is: another database's connections are another matter. */
  db: object
  /** What was begun inside may go on after the end, as timers and caches do. */
  isOpen: boolean
  outer: OpenTransaction | null
}

/** What the program does unasked, and what it does for all alike. */
export const service = 'service'
/** Requests of which nobody knows yet for which workspace they are. */
export const door = 'door'

const ofService: Work = Object.freeze({ owner: service, lane: '', transaction: null, span: null, waits: null })
const works = new AsyncLocalStorage<Work>()

export const currentWork = (): Work => works.getStore() ?? ofService

/** A request's work, before its sender is known. What asks for one thing waits in one lane. */
export const workAtDoor = (lane: string, span: Span | null = null): Work => ({
  owner: door,
  lane,
  transaction: null,
  span,
  waits: new Waits(),
})

export const within = <T>(work: Work, run: () => T): T => works.run(work, run)

export const asService = <T>(run: () => T): T => works.run(ofService, run)

/** The same in the time that those have who wait for it now. */
export const asServiceFor = <T>(run: () => T): T => works.run({ ...ofService, waits: currentWork().waits }, run)

/** From here on the request takes as long as it takes: its answer has begun, or what it sends is still arriving. */
export const takeTime = (): void => currentWork().waits?.over()

/** Does something in the time that is left to somebody else as well: they wait for it. */
export const awaitedBy = <T>(waits: Waits | null, run: () => T): T => works.run({ ...currentWork(), waits }, run)

/** For what is begun inside a transaction that does not wait for it: it may have a connection of its own. */
export function apart<T>(run: () => T): T {
  return works.run({ ...currentWork(), transaction: null }, run)
}

/** Says for which workspace the request is that is being served, for all that it still does. */
export function attributeTo(workspaceId: string): void {
  const work = works.getStore()
  if (work?.owner !== door) return
  work.owner = workspaceId
  work.lane = ''
}

/** Does something as the work of this span, which ends with it. */
export async function inSpan<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    const answer = await works.run({ ...currentWork(), span }, run)
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
  const { span } = currentWork()
  if (span === null || !span.isKept) return run(span)
  const part = span.child(kind, name, fields)
  return inSpan(part, () => run(part))
}

/**
 * Does at once what several have asked for, as a part of the trace of the first of those that are kept; it is linked to the
 * others.
 */
export function tracedTogether<T>(spans: readonly (Span | null)[], run: () => Promise<T>): Promise<T> {
  const traces = spans.filter((span) => span !== null)
  const [first = traces[0], ...others] = traces.filter(({ isKept }) => isKept)
  if (first === undefined) return run()
  if (spans.length > 1 && first.isKept) {
    return inSpan(first.child('internal', 'together', { 'parley.count': spans.length }, others), run)
  }
  return works.run({ ...currentWork(), span: first }, run)
}

/** The work in a transaction of this database. `isOpen` is to be taken back when it ends. */
export function workInTransaction(db: object): Work & { transaction: OpenTransaction } {
  const work = currentWork()
  return { ...work, transaction: { db, isOpen: true, outer: work.transaction } }
}

export function isInTransaction(db: object): boolean {
  let transaction = works.getStore()?.transaction ?? null
  while (transaction !== null && !(transaction.isOpen && transaction.db === db)) transaction = transaction.outer
  return transaction !== null
}

/** The same items for an answer, each of them made as part of the work that asks now: a stream is read on nobody's account. */
export function itemsOfWork<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  takeTime()
  return itemsOf(currentWork(), items)
}

async function* itemsOf<T>(work: Work, items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await within(work, () => iterator.next())
      if (done === true) return
      yield value
    }
  } finally {
    await within(work, () => iterator.return?.())
  }
}

/** Nothing that is to be answered within 20 s takes so long: it is a call that waits for news, and each of its looks counts by itself. */
const forgottenMs = 30_000

/** How long a request has waited for the database so far, all that it asks together. What it waits for at the same time counts once. */
export class Waits {
  #doneMs = 0
  #open = 0
  #sinceMs = 0
  #firstMs = Number.NEGATIVE_INFINITY
  #isOver = false

  begin(nowMs: number): void {
    if (this.#open++ > 0) return
    this.#sinceMs = nowMs
    if (nowMs - this.#firstMs < forgottenMs) return
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
    if (this.#isOver || nowMs - this.#firstMs >= forgottenMs) return 0
    return this.#doneMs + (this.#open > 0 ? nowMs - this.#sinceMs : 0)
  }
}

/**
 * A request is answered within 20 s, however many things it waits for one after the other: what it has waited so far is taken off the
 * time that it has for the next. Nobody waits for what is at hand, so who has none left is served as long as all goes well.
 */
const turnsEndMs = 13_000
const connectionsEndMs = 14_000
const leastMs = 250
const leastAnswerMs = 1_000

/** Who has waited for longer than this has less time for an answer of the database. */
export const unhurriedMs = 500
/** A server that works says something within this, but for rare moments; not less, as long as there is time. */
const leastSilenceMs = 4_000

/** For a turn, and for a connection, each of which has a most of its own. */
export const turnMs = (waitedMs: number, mostMs: number): number => clamp(turnsEndMs - waitedMs, leastMs, mostMs)
export const connectionMs = (waitedMs: number, mostMs: number): number =>
  clamp(connectionsEndMs - waitedMs, leastMs, mostMs)

/** For one answer, after which the server counts as silent. */
export function answerMs(waitedMs: number, mostMs: number): number {
  const least = Math.min(leastSilenceMs, answersMs(waitedMs, mostMs))
  return clamp(mostMs + unhurriedMs - waitedMs, least, mostMs)
}

/** For all answers of a transaction together. */
export const answersMs = (waitedMs: number, mostMs: number): number =>
  Math.max(mostMs + 2_500 - waitedMs, leastAnswerMs)

/** Whether somebody who has said nothing for so long is likely to say nothing to others either. */
export const isLong = (silentMs: number, mostMs: number): boolean => silentMs >= Math.min(leastSilenceMs, mostMs)

const clamp = (ms: number, least: number, most: number): number => Math.max(Math.min(ms, most), Math.min(least, most))
