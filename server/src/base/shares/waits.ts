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
