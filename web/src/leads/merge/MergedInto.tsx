import { IconArrowMerge } from '@tabler/icons-react'
import type { ResolvedLead } from '../../data/merges.ts'
import { t } from '../../text/index.ts'
import styles from './merge.module.css'

/** Explains that the requested lead was merged into this one. */
export function MergedInto({ merged }: Pick<ResolvedLead, 'merged'>) {
  if (merged === null) return null
  return (
    <p className={styles.here} role="status">
      <IconArrowMerge size={16} aria-hidden />
      <span dir="auto">{merged.name === null ? t.merge.fromUnknown : t.merge.fromName({ name: merged.name })}</span>
    </p>
  )
}
