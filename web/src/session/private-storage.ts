/** Used part of the browser's storage. */
export type KeyedStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** Keys with unsent texts of a person, which are removed at sign-out. */
export const privatePrefixes = { draft: 'parley.draft.', sending: 'parley.sending.', noting: 'parley.noting.' } as const

/** Key that stores whose texts they are. */
export const ownerKey = 'parley.private-of'

let isClosed = false

/** Storage for drafts and pending sends, which survive a reload. Ignores writes once closed. */
export const privateStorage: KeyedStorage = {
  get length() {
    return localStorage.length
  },
  key: (n) => localStorage.key(n),
  getItem: (key) => localStorage.getItem(key),
  setItem: (key, text) => {
    if (!isClosed) localStorage.setItem(key, text)
  },
  removeItem: (key) => localStorage.removeItem(key),
}

/** Ignores further writes: running tasks would restore what sign-out removed. */
export function closePrivateStorage(): void {
  isClosed = true
}

/** Claims the storage for a person, and clears it if it belonged to another one. */
export function claimPrivateStorage(storage: KeyedStorage, userId: string): void {
  if (storage.getItem(ownerKey) === userId) return
  clearPrivateStorage(storage)
  try {
    storage.setItem(ownerKey, userId)
  } catch {
    // Storage is full: nothing private is in it, and the next page load tries again.
  }
}

/** Removes unsent texts from this browser. */
export function clearPrivateStorage(storage: KeyedStorage): void {
  const keys = Array.from({ length: storage.length }, (_, n) => storage.key(n) ?? '')
  const prefixes = Object.values(privatePrefixes)
  for (const key of keys) if (prefixes.some((prefix) => key.startsWith(prefix))) storage.removeItem(key)
  storage.removeItem(ownerKey)
}
