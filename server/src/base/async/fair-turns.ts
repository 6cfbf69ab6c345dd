/**
 * Runs what it is given one after the other. Of several keys that wait each has its turn, so that whoever brings much, or
 * what takes long, holds up the others by one piece of work at most. Resolves and rejects as the work does.
 */
export function takeTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  // In the order in which their turns come.
  const waiting = new Map<string, (() => void)[]>()
  let isBusy = false

  const next = () => {
    const [first] = waiting
    if (first === undefined) {
      isBusy = false
      return
    }
    const [key, [begin, ...rest]] = first
    waiting.delete(key)
    // To the end of the line.
    if (rest.length > 0) waiting.set(key, rest)
    begin?.()
  }
  return async (key, work) => {
    if (isBusy) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.set(key, [...(waiting.get(key) ?? []), resolve])
      await promise
    }
    isBusy = true
    try {
      return await work()
    } finally {
      next()
    }
  }
}
