import styles from './LabelDot.module.css'

export const labelColors = [
  'grey',
  'red',
  'orange',
  'amber',
  'green',
  'teal',
  'blue',
  'indigo',
  'violet',
  'pink',
] as const
export type LabelColor = (typeof labelColors)[number]

/** The colour of a label; its name stands beside it. */
export function LabelDot({ color }: { color: LabelColor }) {
  return <span className={styles.dot} data-color={color} aria-hidden="true" />
}
