import type { labelColorValues } from '../api/schema.ts'
import styles from './LabelDot.module.css'

export type LabelColor = (typeof labelColorValues)[number]

/** A label by its name; one that is too long for its place is whole where the mouse rests on it. */
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

/** The colour of a label; its name stands beside it. */
export function LabelDot({ color }: { color: LabelColor }) {
  return <span className={styles.dot} data-color={color} aria-hidden="true" />
}
