import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'

const load = createRequire(import.meta.url)
const unloaded = new Set<() => unknown>()

/** Returns a function that loads a package at its first use, or in `loadRest`, for a fast start. */
export function loadLater<M>(name: string): () => M {
  let loaded: M | undefined
  const getModule = () => {
    if (loaded !== undefined) return loaded
    unloaded.delete(getModule)
    loaded = load(name) as M
    return loaded
  }
  unloaded.add(getModule)
  return getModule
}

/** Loads the remaining packages one by one between other work, so that no request waits for them. */
export async function loadRest(): Promise<void> {
  for (const getModule of unloaded) {
    getModule()
    await nextTurn()
  }
}
