import { objectOf } from '../../waba/json.ts'
import { readMoment } from '../../waba/read/platform-time.ts'

/** The network's time in whole seconds: a number, or one of 64 bits in two halves; `now` for one that cannot be. */
export function readSeconds(value: unknown, now: Date): Date {
  const { low, high } = objectOf(value)
  if (typeof low !== 'number' || typeof high !== 'number') return readMoment(value, now)
  return readMoment(high * 2 ** 32 + (low >>> 0), now)
}
