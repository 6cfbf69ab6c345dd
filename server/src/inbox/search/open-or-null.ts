import { SealBroken, UnknownKeyVersion } from '../../base/sealing/seal.ts'

/** Null for what does not open: nobody finds it by what it says, and the others are found all the same. */
export function openOrNull<T>(open: () => T): T | null {
  try {
    return open()
  } catch (error) {
    if (error instanceof SealBroken && !(error instanceof UnknownKeyVersion)) return null
    throw error
  }
}
