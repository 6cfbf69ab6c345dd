import type { ZoneDay } from '../base/time.ts'
import type { Answerer, AnswerGroup, AnswerTimes } from '../inbox/read/answer-times.ts'
import type { UnansweredCount } from '../inbox/read/count-views.ts'
import type { NewLeads } from '../leads/search/stats.ts'
import type { Attention } from './attention.ts'
import type { Comparison, Stats } from './schema.ts'

export function presentDays(days: readonly ZoneDay[], created: readonly NewLeads[], times: readonly AnswerTimes[]) {
  return days.map(({ date }, n) => ({
    date,
    leads: sum(created.filter(({ day }) => day === n + 1)),
    answers: presentAnswers(times, n + 1),
  }))
}

/** Of one day, or (null) of all of them. */
export function presentAnswers(times: readonly AnswerTimes[], day: number | null) {
  const by = (answerer: Answerer) => {
    const found = times.find((one) => one.answerer === answerer && one.day === day)
    if (found === undefined) return null
    const { answers, medianSeconds, p90Seconds } = found
    return { answers, medianSeconds, p90Seconds }
  }
  return { people: by('people'), agents: by('agents'), otherApps: by('otherApps') }
}

export function presentLeads(
  created: readonly NewLeads[],
  byStatus: readonly { status: string; count: number }[],
): Stats['leads'] {
  const bySource = [...Map.groupBy(created, ({ source }) => source)]
    .map(([source, rows]) => ({ source, count: sum(rows) }))
    .sort((a, b) => b.count - a.count || (a.source < b.source ? -1 : 1))
  return { total: sum(byStatus), created: sum(created), bySource, byStatus: [...byStatus] }
}

export function presentWaiting(waiting: readonly UnansweredCount[], minutes: number): Stats['waiting'] {
  const first = waiting.map(({ since }) => since.getTime())
  return {
    minutes,
    forPeople: sum(waiting.filter(({ ownedByAgent }) => !ownedByAgent)),
    forAgents: sum(waiting.filter(({ ownedByAgent }) => ownedByAgent)),
    since: first.length === 0 ? null : new Date(Math.min(...first)).toISOString(),
  }
}

/** A period beside the one before; `created` has days 1, the one before, and 2. */
export function presentComparison(
  groups: readonly AnswerGroup[],
  created: readonly NewLeads[],
): Pick<Comparison, 'now' | 'before' | 'people' | 'agents' | 'connections' | 'labels'> {
  return {
    now: presentSpan(groups, created, false),
    before: presentSpan(groups, created, true),
    people: presentGroups(groups, 'people'),
    agents: presentGroups(groups, 'agents'),
    connections: presentGroups(groups, 'connection'),
    labels: presentGroups(groups, 'label'),
  }
}

function presentSpan(groups: readonly AnswerGroup[], created: readonly NewLeads[], isBefore: boolean) {
  const by = (kind: AnswerGroup['kind']) =>
    timesIn(
      groups.filter((one) => one.kind === kind && one.id === null),
      isBefore,
    )
  return {
    leads: sum(created.filter(({ day }) => day === (isBefore ? 1 : 2))),
    answers: { people: by('people'), agents: by('agents'), otherApps: by('otherApps') },
  }
}

function presentGroups(groups: readonly AnswerGroup[], kind: AnswerGroup['kind']): Comparison['people'] {
  const byId = Map.groupBy(
    groups.filter((one) => one.kind === kind),
    ({ id }) => id,
  )
  return [...byId]
    .flatMap(([id, rows]) => (id === null ? [] : [{ id, now: timesIn(rows, false), before: timesIn(rows, true) }]))
    .sort((a, b) => answersOf(b.now) - answersOf(a.now) || answersOf(b.before) - answersOf(a.before))
}

function timesIn(rows: readonly AnswerGroup[], isBefore: boolean) {
  const found = rows.find((one) => one.isBefore === isBefore)
  if (found === undefined) return null
  const { answers, medianSeconds, p90Seconds } = found
  return { answers, medianSeconds, p90Seconds }
}

const answersOf = (times: { answers: number } | null): number => times?.answers ?? 0

export function presentAttention(one: Attention): Stats['attention'][number] {
  return { ...one, at: one.at?.toISOString() ?? null }
}

const sum = (rows: readonly { count: number }[]): number => rows.reduce((total, { count }) => total + count, 0)
