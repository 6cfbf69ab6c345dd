import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'

const load = createRequire(import.meta.url)
const unmade = new Set<() => unknown>()

/** Returns a function that makes a value at its first use, or in `makeRest`, for a fast start. */
export function makeLater<T>(make: () => T): () => T {
  let made: T | undefined
  const get = () => {
    if (made !== undefined) return made
    unmade.delete(get)
    made = make()
    return made
  }
  unmade.add(get)
  return get
}

/** The same for a package. */
export const loadLater = <M>(name: string): (() => M) => makeLater(() => load(name) as M)

/** Makes the remaining values one by one between other work, so that no request waits for them. */
export async function makeRest(): Promise<void> {
  for (const get of unmade) {
    get()
    await nextTurn()
  }
}
