import { Progress } from '@mantine/core'
import type { Import } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { fullMoment, number } from '../../ui/format/time.ts'
import { shareOf } from './mapping.ts'
import { Counts } from './Report.tsx'
import styles from './transfer.module.css'

/** How far it has come. It goes on without this page. */
export function ProgressStep({ one }: { one: Import }) {
  const { progress } = t.transfer
  const percent = Math.floor(100 * shareOf(one))
  return (
    <section className={styles.card} aria-live="polite">
      <strong>{one.dryRun ? progress.trying : progress.writing}</strong>
      <Progress value={percent} animated aria-label={progress.label} />
      <p className={styles.quiet}>{progress.at(number(percent), number(one.rowsPerSecond))}</p>
      <Counts one={one} />
      {one.resumesAt !== null && <p>{progress.quota(fullMoment(one.resumesAt))}</p>}
      <p className={styles.quiet}>{progress.leave}</p>
    </section>
  )
}
