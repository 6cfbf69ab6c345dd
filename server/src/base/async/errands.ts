/** Work that nobody waits for, but that has to be over before what it stands on is closed. */
export interface Errands {
  /** Begins it, unless `close` was called. */
  run(work: () => Promise<unknown>, onError: (error: unknown) => void): void
  /** Begins no more, and resolves once what has begun is over. */
  close(): Promise<void>
}

export function openErrands(): Errands {
  const running = new Set<Promise<void>>()
  let isClosed = false
  return {
    run: (work, onError) => {
      if (isClosed) return
      const errand: Promise<void> = work()
        .then(() => {}, onError)
        .finally(() => running.delete(errand))
      running.add(errand)
    },
    close: async () => {
      isClosed = true
      await Promise.all(running)
    },
  }
}
