import { AsyncLocalStorage } from 'node:async_hooks'
import { problemOf, type Span, type SpanFields, type SpanKind } from '../tracing/span.ts'
import { Waits } from './waits.ts'

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

export interface OpenTransaction {
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
