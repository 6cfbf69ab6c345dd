import { useLiveState } from '../api/live.ts'
import { t } from '../text/index.ts'
import styles from './OfflineLine.module.css'

/** A thin line on top while the stream is broken: what is shown may be old, and what is sent waits. */
export function OfflineLine() {
  const isLost = useLiveState() === 'lost'
  return (
    <div className={styles.line} role="status" aria-live="polite" data-lost={isLost || undefined}>
      {isLost && t.common.live.lost}
    </div>
  )
}
