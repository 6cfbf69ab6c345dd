export const goals = ['first_answer', 'next_answer', 'resolution'] as const
export type Goal = (typeof goals)[number]

/** A goal that is neither reached nor missed, or missed and still to be reached. Times are ISO 8601. */
export interface GoalClock {
  goal: Goal
  /** Minutes of business hours. */
  minutes: number
  since: string
  dueAt: string
  /** After four fifths of the minutes. */
  warnAt: string
  /** Whether it was recorded as missed. */
  isMissed?: true
}

/** The goals of a conversation. A case begins when the customer writes, and ends when it is resolved or closed. */
export interface GoalState {
  /** Null after the case was closed. */
  caseSince: string | null
  /** Whether the case had an answer. */
  isAnswered: boolean
  teamId: string | null
  clocks: GoalClock[]
}

/** Returns the columns by which conversations are found: the next clock to end, and the first missed one. */
export function goalTimes(goal: GoalState | null): { goalDueAt: Date | null; goalMissedAt: Date | null } {
  if (goal === null) return { goalDueAt: null, goalMissedAt: null }
  const { missed = [], running = [] } = Object.groupBy(goal.clocks, ({ isMissed }) => (isMissed ? 'missed' : 'running'))
  return { goalDueAt: firstDue(running), goalMissedAt: firstDue(missed) }
}

const firstDue = (clocks: readonly GoalClock[]): Date | null => {
  const [first] = clocks.map((clock) => clock.dueAt).sort()
  return first === undefined ? null : new Date(first)
}

/** Returns the clock that matters most: the missed one that was due first, else the next to end. */
export function shownClock(goal: GoalState | null): GoalClock | null {
  const sorted = [...(goal?.clocks ?? [])].sort((a, b) => (a.dueAt < b.dueAt ? -1 : 1))
  return sorted.find(({ isMissed }) => isMissed) ?? sorted[0] ?? null
}
