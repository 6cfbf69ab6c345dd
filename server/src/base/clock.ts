/** The only source of time: tests and the simulator drive their own. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

export interface ManualClock extends Clock {
  set(time: Date): void
  advance(ms: number): void
}

/** A clock that stands still until it is moved. */
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

/** A clock that runs as fast as its base, some time ahead of it or behind. */
export interface ShiftedClock extends Clock {
  /** Milliseconds ahead of the base; negative when behind. */
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

/** A clock that goes by another one, which is asked now and then. */
export interface FollowedClock extends Clock {
  /** Asks the other one. Returns whether the difference is another than the one that was known. */
  follow(): Promise<boolean>
  /** Milliseconds by which the base was last found ahead of the other; negative when behind. */
  baseAheadMs(): number
}

/** Clocks that agree this far are left alone: an answer takes its time, and the machines' time service does the rest. */
const agreeMs = 1000

/**
 * The base as long as it agrees with the clock that `ask` tells the time of, and else the time of that one. An answer that
 * took longer than the difference that counts says nothing.
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
      // Within the same bound what was found first is kept: the time shall not jump to and fro.
      if (next === aheadMs || (next !== 0 && Math.abs(next - aheadMs) <= agreeMs)) return false
      aheadMs = next
      return true
    },
  }
}
