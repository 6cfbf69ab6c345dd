import { useCounts } from '../../data/inbox/queries.ts'
import { type View, views } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { number } from '../../ui/format/time.ts'
import styles from './ListPane.module.css'

interface ViewTabsProps {
  workspaceId: string
  view: View
  choose(view: View): void
}

export function ViewTabs({ workspaceId, view, choose }: ViewTabsProps) {
  const { data: counts } = useCounts(workspaceId)
  return (
    <div className={styles.tabs} role="toolbar" aria-label={t.inbox.view}>
      {views.map((one) => (
        <button key={one} type="button" className={styles.tab} aria-pressed={one === view} onClick={() => choose(one)}>
          {t.inbox.views[one]}
          {counts !== undefined && <span className={styles.count}>{number(counts[one].open, compact)}</span>}
        </button>
      ))}
    </div>
  )
}

const compact = { notation: 'compact', maximumFractionDigits: 1 } as const
