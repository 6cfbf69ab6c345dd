import type { ApiError } from '../errors.ts'

/** Maximum number of slots for one holder. */
export interface SlotLimit {
  who: string
  most: number
  refusal: () => ApiError
}

/** Creates a counter. A call acquires a slot per limit, or throws and acquires none; returns the release function. */
export function createSlotCounter(): (limits: readonly SlotLimit[]) => () => void {
  const acquired = new Map<string, number>()
  return (limits) => {
    const full = limits.find(({ who, most }) => (acquired.get(who) ?? 0) >= most)
    if (full !== undefined) throw full.refusal()
    for (const { who } of limits) acquired.set(who, (acquired.get(who) ?? 0) + 1)
    return () => {
      for (const { who } of limits) {
        const left = (acquired.get(who) ?? 1) - 1
        if (left === 0) acquired.delete(who)
        else acquired.set(who, left)
      }
    }
  }
}
