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
