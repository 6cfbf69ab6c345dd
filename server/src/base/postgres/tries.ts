/** Between the beginnings of two tries. The embedded database comes back within a second; whoever waits for a new primary waits 5 s. */
const firstPauseMs = 20
const longestPauseMs = 500

export interface Try {
  succeeded(): void
  failed(): void
}

/** When a server that could not be reached is tried again: a rule that waits for nothing itself. */
export class Tries {
  #failures = 0
  #begunAtMs = Number.NEGATIVE_INFINITY

  get haveFailed(): boolean {
    return this.#failures > 0
  }

  /** How long the next try has to wait. */
  pauseMs(nowMs: number): number {
    if (this.#failures === 0) return 0
    const apartMs = Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs)
    return Math.max(0, this.#begunAtMs + apartMs - nowMs)
  }

  begin(nowMs: number): Try {
    this.#begunAtMs = nowMs
    const before = this.#failures
    return {
      succeeded: () => {
        this.#failures = 0
      },
      // Those that began together have failed for one reason: they count as one.
      failed: () => {
        if (this.#failures === before) this.#failures++
      },
    }
  }
}
