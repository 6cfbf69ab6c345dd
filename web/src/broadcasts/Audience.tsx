import type { Broadcast } from '../data/outreach/broadcasts.ts'
import { t } from '../text/index.ts'
import { formatCost } from '../ui/format/cost.ts'
import { formatNumber } from '../ui/format/time.ts'
import { Facts } from '../ui/page/Facts.tsx'
import styles from './Broadcasts.module.css'
import { reasonName } from './parts.tsx'

/** Who gets a broadcast, who is left out and why, and what it may cost. */
export function Audience({ broadcast: { state, reason, counts, cost } }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  if (state === 'draft') {
    const why: Record<string, string> = texts.countProblems
    return reason === null ? null : <p role="alert">{why[reason] ?? texts.otherReason({ code: reason })}</p>
  }
  if (counts === null) return <p role="status">{texts.counting}</p>
  const excluded = Object.entries(counts.excluded).toSorted(([, a], [, b]) => b - a)
  return (
    <div className={styles.stack} role="status">
      {state === 'collecting' && <p className={styles.muted}>{texts.counting}</p>}
      <Facts
        facts={[
          [texts.leads, formatNumber(counts.leads)],
          [texts.included, <strong key="included">{formatNumber(counts.included)}</strong>],
          ...excluded.map(([why, count]) => [reasonName(why), formatNumber(count)] as const),
          ...(cost === null
            ? []
            : [
                [texts.estimate, formatCost(cost.amount, cost.currency)] as const,
                ...(cost.unpriced > 0 ? [[texts.unpriced, formatNumber(cost.unpriced)] as const] : []),
              ]),
        ]}
      />
    </div>
  )
}
