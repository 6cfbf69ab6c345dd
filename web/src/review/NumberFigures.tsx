import type { Agent, AgentNumbers, CountedNumber } from '../data/team/agent-numbers.ts'
import { t } from '../text/index.ts'
import { type Figure, Figures } from '../ui/charts/Figures.tsx'
import { formatCost } from '../ui/format/cost.ts'
import { formatNumber, formatPercent } from '../ui/format/time.ts'
import { fractionOf, isBetter, type Share, type ShareName, shareNames, shareOf } from './number-rules.ts'

interface NumberFiguresProps {
  agent: Agent
  numbers: Pick<AgentNumbers, 'currency' | 'answerMinutes'>
  compared: { agent: Agent; name: string } | null
  /** Lists the conversations that a number counts. */
  open(number: CountedNumber): void
}

export const formatFraction = (fraction: number): string => formatPercent(fraction, fraction < 0.1 ? 1 : 0)

/** Shares with their counts, and what they are with another agent or before. */
export function NumberFigures({ agent, numbers, compared, open }: NumberFiguresProps) {
  const texts = t.review
  const shares = shareNames
    .filter((name) => !name.startsWith('draft_') || shareOf(agent, name).of > 0)
    .map((name): Figure => {
      const share = shareOf(agent, name)
      const isOff = name === 'silent' && numbers.answerMinutes === null
      return {
        name: texts.numbers[name],
        ...valueText(share),
        note: isOff ? texts.noLimit : noteOf(share, name, agent),
        change: compared === null ? null : comparisonOf(name, share, compared),
        help: texts.definitions[name],
        ...(share.count > 0 && { open: () => open(name) }),
      }
    })
  return (
    <Figures
      figures={[
        {
          name: texts.cases,
          value: formatNumber(agent.cases),
          note: texts.answered({ n: agent.answered }),
          change:
            compared === null
              ? null
              : { words: `${compared.name}: ${formatNumber(compared.agent.cases)}`, isGood: null },
          help: texts.definitions.cases,
          ...(agent.answered > 0 && { open: () => open('answered') }),
        },
        ...shares,
        costFigure(agent, numbers.currency, compared, open),
      ]}
    />
  )
}

function valueText(share: Share): Pick<Figure, 'value' | 'isEmpty'> {
  const fraction = fractionOf(share)
  return fraction === null ? { value: t.review.noData, isEmpty: true } : { value: formatFraction(fraction) }
}

function noteOf(share: Share, name: ShareName, { outcomes, drafts }: Agent): string {
  const counts = countsOf(share)
  if (name === 'resolved' && outcomes.recent > 0) return `${counts} · ${t.review.recent({ n: outcomes.recent })}`
  if (name !== 'draft_edited' || drafts.distance === null) return counts
  return `${counts} · ${t.review.distance({ percent: formatFraction(drafts.distance) })}`
}

const countsOf = ({ count, of }: Share): string =>
  t.review.countOf({ count: formatNumber(count), of: formatNumber(of) })

function comparisonOf(name: ShareName, share: Share, { agent, name: otherName }: { agent: Agent; name: string }) {
  const other = shareOf(agent, name)
  const words = `${otherName}: ${valueText(other).value}${other.of === 0 ? '' : ` (${countsOf(other)})`}`
  return { words, isGood: isBetter(name, share, other) }
}

function costFigure(
  { cost, outcomes }: Agent,
  currency: string | null,
  compared: NumberFiguresProps['compared'],
  open: NumberFiguresProps['open'],
): Figure {
  const texts = t.review
  const missing = cost.unknown + cost.unpriced
  const note =
    cost.amount === null
      ? texts.costUnknown
      : texts.costOf({ amount: formatCost(cost.amount, currency), n: outcomes.resolved + outcomes.recent })
  return {
    name: texts.cost,
    value: formatCost(cost.perResolved, currency),
    isEmpty: cost.perResolved === null,
    note: missing > 0 ? `${note} · ${texts.costMissing({ n: missing })}` : note,
    change:
      compared === null
        ? null
        : { words: `${compared.name}: ${formatCost(compared.agent.cost.perResolved, currency)}`, isGood: null },
    help: texts.definitions.cost,
    ...(outcomes.resolved > 0 && { open: () => open('resolved') }),
  }
}
