/** The only source of time. Tests and the simulator replace it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

export interface ManualClock extends Clock {
  set(time: Date): void
  advance(ms: number): void
}

/** Returns a clock that changes only when it is set or advanced. */
export function manualClock(start: Date): ManualClock {
  let time = start.getTime()
  return {
    now: () => new Date(time),
    set: (next) => {
      time = next.getTime()
    },
    advance: (ms) => {
      time += ms
    },
  }
}

/** A clock at a fixed offset from its base. */
export interface ShiftedClock extends Clock {
  /** Milliseconds ahead of the base; negative if behind. */
  shiftMs(): number
  shiftTo(ms: number): void
}

export function shiftedClock(base: Clock): ShiftedClock {
  let shift = 0
  return {
    now: () => new Date(base.now().getTime() + shift),
    shiftMs: () => shift,
    shiftTo: (ms) => {
      shift = ms
    },
  }
}

/** A clock that is corrected by a reference clock. */
export interface CorrectedClock extends Clock {
  /** Reads the reference clock. Returns true if the correction changed. */
  correct(): Promise<boolean>
  /** Milliseconds that the base was ahead of the reference at the last reading; negative if behind. */
  baseAheadMs(): number
}

/** Largest ignored difference: a reading takes time itself, and the machines' time service corrects the rest. */
const toleranceMs = 1000

/**
 * Returns the base time while it agrees with the reference clock that the callback reads, and the reference time
 * otherwise. Ignores a reading that took longer than the tolerance.
 */
export function correctedClock(
  base: Clock,
  readReference: () => Promise<Date>,
  monotonicMs = () => performance.now(),
): CorrectedClock {
  let aheadMs = 0
  return {
    now: () => new Date(base.now().getTime() - aheadMs),
    baseAheadMs: () => aheadMs,
    correct: async () => {
      const [before, startedMs] = [base.now().getTime(), monotonicMs()]
      const referenceMs = (await readReference()).getTime()
      const tookMs = monotonicMs() - startedMs
      if (tookMs > toleranceMs) return false
      const measuredMs = Math.round(before + tookMs / 2 - referenceMs)
      const next = Math.abs(measuredMs) <= toleranceMs ? 0 : measuredMs
      // A new difference within the same bound keeps the old one, so that the time does not jump back and forth.
      if (next === aheadMs || (next !== 0 && Math.abs(next - aheadMs) <= toleranceMs)) return false
      aheadMs = next
      return true
    },
  }
}
