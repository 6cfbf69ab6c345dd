import type { KeyedStorage } from '../../src/session/private-storage.ts'

/** Creates empty storage. */
export function newStorage(): KeyedStorage {
  const held = new Map<string, string>()
  return {
    get length() {
      return held.size
    },
    key: (n) => [...held.keys()][n] ?? null,
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => void held.set(key, value),
    removeItem: (key) => void held.delete(key),
  }
}
