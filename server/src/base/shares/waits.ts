/** What was waited for before this does not count for what is asked now: it is of a stream, or of a call that waits for news. */
const forgottenMs = 30_000

/** How long a request has waited for the database so far, all that it asks together. What it waits for at the same time counts once. */
export class Waits {
  #doneMs = 0
  #open = 0
  #sinceMs = 0
  #firstMs = Number.NEGATIVE_INFINITY

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

  ms(nowMs: number): number {
    return this.#doneMs + (this.#open > 0 ? nowMs - this.#sinceMs : 0)
  }
}
