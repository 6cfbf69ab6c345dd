import { objectOf } from '../../waba/json.ts'
import { readPlatformTime } from '../../waba/read/reading.ts'

/** The network's time in whole seconds: a number, or one of 64 bits in two halves; `now` at the latest, `otherwise` for one that cannot be. */
export function readNetworkTime(value: unknown, now: Date, otherwise = now): Date {
  const { low, high } = objectOf(value)
  if (typeof low !== 'number' || typeof high !== 'number') return readPlatformTime(value, now, otherwise)
  return readPlatformTime(high * 2 ** 32 + (low >>> 0), now, otherwise)
}
