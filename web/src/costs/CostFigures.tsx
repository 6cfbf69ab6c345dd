import type { Costs } from '../data/team/costs.ts'
import { t } from '../text/index.ts'
import { Figures } from '../ui/charts/Figures.tsx'
import { formatCost } from '../ui/format/cost.ts'
import { formatNumber } from '../ui/format/time.ts'

/** Key figures of the period. Unknown prices are shown as such. */
export function CostFigures({ costs: { total, currency } }: { costs: Costs }) {
  const texts = t.costs.figures
  const { charged, free, unknown, unpriced, amount } = total
  const figures = [
    {
      name: texts.amount,
      value: formatCost(amount, currency),
      note: unpriced > 0 ? texts.unpriced({ n: unpriced }) : texts.byCard,
    },
    { name: texts.charged, value: formatNumber(charged), note: texts.chargedNote },
    { name: texts.free, value: formatNumber(free), note: texts.freeNote },
    { name: texts.unknown, value: formatNumber(unknown), note: texts.unknownNote },
  ]
  return <Figures figures={figures} />
}
