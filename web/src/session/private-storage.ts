/** What of the browser's storage is used. */
export type KeyedStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** What is kept under these names is what a person has written: it goes when they do. */
export const privatePrefixes = { draft: 'parley.draft.', sending: 'parley.sending.', noting: 'parley.noting.' } as const

/** Whose it is. */
export const ownerKey = 'parley.private-of'

let isClosed = false

/** Where drafts and what is on its way outlive a reload. Once closed it takes nothing any more. */
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

/** From now on nothing is put into it: what is still under way would bring back what was removed. */
export function closePrivateStorage(): void {
  isClosed = true
}

/** Keeps what this person has written; what somebody else has left here goes. */
export function claimPrivateStorage(storage: KeyedStorage, userId: string): void {
  if (storage.getItem(ownerKey) === userId) return
  clearPrivateStorage(storage)
  try {
    storage.setItem(ownerKey, userId)
  } catch {
    // A full storage: nothing private is in it, and the next page tries again.
  }
}

/** Removes what was written in this browser and not sent. */
export function clearPrivateStorage(storage: KeyedStorage): void {
  const keys = Array.from({ length: storage.length }, (_, n) => storage.key(n) ?? '')
  const prefixes = Object.values(privatePrefixes)
  for (const key of keys) if (prefixes.some((prefix) => key.startsWith(prefix))) storage.removeItem(key)
  storage.removeItem(ownerKey)
}
