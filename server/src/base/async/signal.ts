/** Wakes a loop that looks whether there is something to do. */
export interface Signal {
  wake(): void
  /** Resolves at the next `wake`. Ask for it before looking, so that nothing falls in between. */
  next(): Promise<void>
}

export function createSignal(): Signal {
  let current = Promise.withResolvers<void>()
  return {
    wake: () => {
      current.resolve()
      current = Promise.withResolvers()
    },
    next: () => current.promise,
  }
}
