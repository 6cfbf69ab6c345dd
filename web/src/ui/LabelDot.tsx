import type { labelColorValues } from '../api/schema.ts'
import styles from './LabelDot.module.css'

export type LabelColor = (typeof labelColorValues)[number]

/** Name of a label; a long one is complete in the tooltip. */
export function LabelChip({ name, color }: { name: string; color: LabelColor }) {
  return (
    <span className={styles.chip} title={name}>
      <LabelDot color={color} />
      <span className={styles.name} dir="auto">
        {name}
      </span>
    </span>
  )
}

/** Color of a label, beside its name. */
export function LabelDot({ color }: { color: LabelColor }) {
  return <span className={styles.dot} data-color={color} aria-hidden="true" />
}
