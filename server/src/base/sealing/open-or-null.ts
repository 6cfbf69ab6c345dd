import { SealBroken, UnknownKeyVersion } from './seal.ts'

/**
 * Null for what does not open: no others are to wait for it. What a newer key may open is no such value: that is thrown, and
 * `withKeyring` loads the keys anew.
 */
export function openOrNull<T>(open: () => T): T | null {
  try {
    return open()
  } catch (error) {
    if (error instanceof SealBroken && !(error instanceof UnknownKeyVersion)) return null
    throw error
  }
}
