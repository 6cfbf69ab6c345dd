import type { Costs } from '../data/team/costs.ts'
import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'
import styles from './CostsPage.module.css'
import { formatCost } from './format-cost.ts'

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
  return (
    <dl className={styles.figures}>
      {figures.map(({ name, value, note }) => (
        <div key={name} className={styles.figure}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd className={styles.note}>{note}</dd>
        </div>
      ))}
    </dl>
  )
}
