import { timeOfId } from '../../base/id.ts'
import { dueAt } from '../../team/opening-hours.ts'
import { type GoalMinutes, type ServiceSettings, serviceOf } from '../../workspaces/service/service-settings.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Goal, GoalClock, GoalState } from '../conversation/conversation-state.ts'

/** The fields of a conversation on which its goals depend. */
export type GoalSubject = Pick<Conversation, 'status' | 'unansweredSince' | 'inbound' | 'priority' | 'teamId' | 'goal'>

const closedStatuses: ReadonlySet<string> = new Set(['resolved', 'closed'])

/** Returns the conversation with its goals by the current settings; the same object if they have not changed. */
export function withGoal<C extends GoalSubject>(
  conversation: C,
  settings: ServiceSettings,
  options: { isRecomputed?: boolean } = {},
): C {
  if (!settings.hasGoals && conversation.goal === null) return conversation
  const goal = nextState(conversation, settings, options)
  return isSameState(goal, conversation.goal) ? conversation : { ...conversation, goal }
}

/** `isRecomputed`: the settings have changed, so that clocks that run are computed again. */
function nextState(
  subject: GoalSubject,
  settings: ServiceSettings,
  { isRecomputed = false }: { isRecomputed?: boolean },
): GoalState | null {
  const { status, unansweredSince, priority, teamId, goal: before } = subject
  const { goals: ofWorkspace, hours } = serviceOf(settings, teamId)
  if (ofWorkspace === null) return null
  if (closedStatuses.has(status)) return before && { caseSince: null, isAnswered: true, teamId, clocks: [] }
  const since = caseSince(subject)
  if (since === null) return before
  const isNew = before === null || before.caseSince === null
  const isAnswered = isNew ? false : before.isAnswered || isAnsweredSince(subject, since)
  const minutes = (priority === null ? undefined : ofWorkspace.priorities[priority]) ?? ofWorkspace
  const known = isNew || isRecomputed || before.teamId !== teamId ? [] : before.clocks
  const start = (goal: Goal, from: Date): GoalClock[] => {
    const allowed = minutesOf(minutes, goal)
    if (allowed === null) return []
    const isSame = (clock: GoalClock) => clock.goal === goal && clock.since === from.toISOString()
    const same = known.find((clock) => isSame(clock) && clock.minutes === allowed)
    if (same !== undefined) return [same]
    const due = dueAt(from, allowed, hours)
    if (due === null) return []
    const isStillMissed = before?.clocks.some(
      (clock) => isSame(clock) && clock.isMissed && due <= new Date(clock.dueAt),
    )
    return [
      {
        ...{ goal, minutes: allowed, since: from.toISOString(), dueAt: due.toISOString() },
        warnAt: (dueAt(from, allowed * warnShare, hours) ?? due).toISOString(),
        ...(isStillMissed && { isMissed: true as const }),
      },
    ]
  }
  const waitsSince = unansweredSince === null ? null : laterOf(unansweredSince, since)
  const clocks = [
    ...(waitsSince === null ? [] : start(isAnswered ? 'next_answer' : 'first_answer', waitsSince)),
    ...start('resolution', since),
  ]
  return { caseSince: since.toISOString(), isAnswered, teamId, clocks }
}

const warnShare = 0.8

/** Returns when the current case began; null if the customer has not written. */
function caseSince({ goal, unansweredSince, inbound: { newest } }: GoalSubject): Date | null {
  if (goal !== null && goal.caseSince !== null) return new Date(goal.caseSince)
  if (unansweredSince === null) return null
  // The customer may have waited when the case before it was closed.
  return goal === null || newest === null ? unansweredSince : laterOf(unansweredSince, timeOfId(newest))
}

/** An agent may have answered some messages of the customer and not others. */
const isAnsweredSince = ({ unansweredSince, inbound: { answered } }: GoalSubject, since: Date): boolean =>
  unansweredSince === null || (answered !== null && timeOfId(answered) >= since)

const minutesOf = ({ firstAnswer, nextAnswer, resolution }: GoalMinutes, goal: Goal): number | null =>
  ({ first_answer: firstAnswer, next_answer: nextAnswer, resolution })[goal]

const laterOf = (a: Date, b: Date): Date => (a > b ? a : b)

function isSameState(a: GoalState | null, b: GoalState | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.caseSince === b.caseSince &&
    a.isAnswered === b.isAnswered &&
    a.teamId === b.teamId &&
    a.clocks.length === b.clocks.length &&
    a.clocks.every((clock, n) => isSameClock(clock, b.clocks[n]))
  )
}

const isSameClock = (a: GoalClock, b: GoalClock | undefined): boolean =>
  a === b ||
  (b !== undefined &&
    a.goal === b.goal &&
    a.minutes === b.minutes &&
    a.since === b.since &&
    a.dueAt === b.dueAt &&
    a.warnAt === b.warnAt &&
    a.isMissed === b.isMissed)
