import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { goalTimes, noMarks, shownClock } from '../../../src/inbox/conversation/conversation-state.ts'
import { type GoalSubject, withGoal } from '../../../src/inbox/goals/goal-state.ts'
import type { ServiceGoals, ServiceSettings } from '../../../src/workspaces/service/service-settings.ts'

const goals: ServiceGoals = {
  ...{ firstAnswer: 10, nextAnswer: 20, resolution: 60 },
  priorities: { urgent: { firstAnswer: 5, nextAnswer: null, resolution: null } },
}
const settingsOf = (of: ServiceGoals | null, teams: [string, ServiceGoals | null][] = []): ServiceSettings => ({
  ...{ hours: null, away: null, goals: of, country: null, hasAway: false, hasGoals: of !== null || teams.length > 0 },
  teams: new Map(teams.map(([id, own]) => [id, { hours: null, away: null, goals: own }])),
})
const settings = settingsOf(goals)

const at = (minute: number) => new Date(Date.UTC(2026, 2, 10, 12, minute))
const newest = newId(at(0))
const asked: GoalSubject = {
  ...{ status: 'open', unansweredSince: at(0), priority: null, teamId: null, goal: null },
  inbound: { ...noMarks, newest },
}
const shown = ({ goal }: GoalSubject) =>
  (goal?.clocks ?? []).map((clock) => `${clock.goal} ${clock.since.slice(14, 16)}–${clock.dueAt.slice(11, 16)}`)

/** Applies changes of a conversation in turn. */
function after(...changes: Partial<GoalSubject>[]): GoalSubject {
  let subject = withGoal(asked, settings)
  for (const change of changes) subject = withGoal({ ...subject, ...change }, settings)
  return subject
}

const answered: Partial<GoalSubject> = { unansweredSince: null, inbound: { newest, seen: null, answered: newest } }

const cases: [what: string, subject: GoalSubject, expected: string[]][] = [
  ['a customer who waits', after(), ['first_answer 00–12:10', 'resolution 00–13:00']],
  ['an answer', after(answered), ['resolution 00–13:00']],
  ['a further question', after(answered, { unansweredSince: at(30) }), ['next_answer 30–12:50', 'resolution 00–13:00']],
  ['a resolved case', after(answered, { status: 'resolved' }), []],
  ['a snoozed one', after(answered, { status: 'snoozed' }), ['resolution 00–13:00']],
  [
    'a new case',
    after(
      answered,
      { status: 'resolved' },
      { status: 'open', unansweredSince: at(40), inbound: { ...noMarks, newest: newId(at(40)) } },
    ),
    ['first_answer 40–12:50', 'resolution 40–13:40'],
  ],
  [
    'a case that was closed without an answer, and the customer wrote again',
    after({ status: 'closed' }, { status: 'open', inbound: { ...noMarks, newest: newId(at(40)) } }),
    ['first_answer 40–12:50', 'resolution 40–13:40'],
  ],
  [
    'an answer to some of the messages',
    after({ unansweredSince: at(2), inbound: { newest: newId(at(2)), seen: null, answered: newest } }),
    ['next_answer 02–12:22', 'resolution 00–13:00'],
  ],
  ['another priority', after({ priority: 'urgent' }), ['first_answer 00–12:05']],
  ['a customer who has not written', withGoal({ ...asked, unansweredSince: null, inbound: noMarks }, settings), []],
]

for (const [what, subject, expected] of cases) {
  test(`goals of ${what}`, () => {
    assert.deepEqual(shown(subject), expected)
  })
}

test('a team has its own goals, or those of the workspace', () => {
  const own: ServiceGoals = { firstAnswer: 1, nextAnswer: 1, resolution: null, priorities: {} }
  const withTeams = settingsOf(goals, [
    ['a', own],
    ['b', goals],
  ])
  const first = withGoal({ ...asked, teamId: 'a' }, withTeams)
  assert.deepEqual(shown(first), ['first_answer 00–12:01'])
  const moved = withGoal({ ...first, teamId: 'b' }, withTeams)
  assert.deepEqual(shown(moved), ['first_answer 00–12:10', 'resolution 00–13:00'])
})

test('without goals nothing is kept, and what does not change stays the same object', () => {
  const none = settingsOf(null)
  assert.equal(withGoal(asked, none), asked)
  const kept = after()
  assert.equal(withGoal(kept, settings), kept)
  assert.equal(withGoal(kept, none).goal, null)
})

test('changed settings move clocks that run, and a missed goal stays missed unless it gets more time', () => {
  const subject = after()
  const missed = {
    ...subject,
    goal: subject.goal && {
      ...subject.goal,
      clocks: subject.goal.clocks.map((clock) => ({ ...clock, isMissed: true as const })),
    },
  }
  const recomputed = (firstAnswer: number) =>
    withGoal(missed, settingsOf({ ...goals, firstAnswer }), { isRecomputed: true }).goal?.clocks.map(
      ({ goal, dueAt, isMissed }) => [goal, dueAt.slice(11, 16), isMissed === true],
    )
  assert.deepEqual(recomputed(5), [
    ['first_answer', '12:05', true],
    ['resolution', '13:00', true],
  ])
  assert.deepEqual(recomputed(30), [
    ['first_answer', '12:30', false],
    ['resolution', '13:00', true],
  ])
})

test('the next clock to end and the first missed one are found by columns', () => {
  const { goal } = after()
  assert.deepEqual(goalTimes(goal), { goalDueAt: at(10), goalMissedAt: null })
  const clocks = (goal?.clocks ?? []).map((clock, n) => (n === 0 ? { ...clock, isMissed: true as const } : clock))
  const half = goal && { ...goal, clocks }
  assert.deepEqual(goalTimes(half), { goalDueAt: at(60), goalMissedAt: at(10) })
  assert.equal(shownClock(half)?.goal, 'first_answer')
  assert.deepEqual(goalTimes(null), { goalDueAt: null, goalMissedAt: null })
})
