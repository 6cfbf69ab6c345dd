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
export interface FollowedClock extends Clock {
  /** Reads the reference clock. Returns true if the correction changed. */
  follow(): Promise<boolean>
  /** Milliseconds that the base was ahead of the reference at the last reading; negative if behind. */
  baseAheadMs(): number
}

/** Largest ignored difference: a reading takes time itself, and the machines' time service corrects the rest. */
const agreeMs = 1000

/**
 * Returns the base time while it agrees with the reference clock that the callback reads, and the reference time
 * otherwise. Ignores a reading that took longer than the tolerance.
 */
export function followedClock(
  base: Clock,
  ask: () => Promise<Date>,
  steadyMs = () => performance.now(),
): FollowedClock {
  let aheadMs = 0
  return {
    now: () => new Date(base.now().getTime() - aheadMs),
    baseAheadMs: () => aheadMs,
    follow: async () => {
      const [before, begunMs] = [base.now().getTime(), steadyMs()]
      const told = (await ask()).getTime()
      const tookMs = steadyMs() - begunMs
      if (tookMs > agreeMs) return false
      const foundMs = Math.round(before + tookMs / 2 - told)
      const next = Math.abs(foundMs) <= agreeMs ? 0 : foundMs
      // A new difference within the same bound keeps the old one, so that the time does not jump back and forth.
      if (next === aheadMs || (next !== 0 && Math.abs(next - aheadMs) <= agreeMs)) return false
      aheadMs = next
      return true
    },
  }
}
