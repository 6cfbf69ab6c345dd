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
