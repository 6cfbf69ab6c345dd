import type { AgentNumbers, Outcomes } from '../data/team/agent-numbers.ts'
import { t } from '../text/index.ts'
import { shareNames, shareOf } from './number-rules.ts'

/** Returns the rows of a CSV file: an agent per row, with each number and what it is a part of. */
export function csvRows(
  { from, to, currency, agents }: AgentNumbers,
  nameOf: (id: string) => string | null,
): (string | number)[][] {
  const { agent, cases, numbers, outcomes, cost, of } = t.review
  const outcomeNames = Object.keys(outcomes) as (keyof Outcomes)[]
  const head = [
    ...[t.review.from, t.review.to, agent, cases],
    ...outcomeNames.map((name) => outcomes[name]),
    ...shareNames.flatMap((name) => [numbers[name], of({ name: numbers[name] })]),
    ...[cost, t.costs.currency],
  ]
  const rows = agents.map((one) => [
    ...[from, to, nameOf(one.keyId) ?? '', one.cases],
    ...outcomeNames.map((name) => one.outcomes[name]),
    ...shareNames.flatMap((name) => Object.values(shareOf(one, name)) as number[]),
    ...[one.cost.perResolved ?? '', one.cost.perResolved === null ? '' : (currency ?? '')],
  ])
  return [head, ...rows]
}
