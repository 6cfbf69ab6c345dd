import { useLabelsById } from '../../data/labels.ts'
import { LabelChip, LabelDot } from '../../ui/LabelDot.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './labels.module.css'

interface LabelChipsProps {
  ids: readonly string[]
  /** Dots only, with names in the tooltip and for screen readers. */
  isSmall?: boolean
}

/** Labels of a lead, sorted by name; deleted labels are dropped. */
export function LabelChips({ ids, isSmall = false }: LabelChipsProps) {
  const labels = useLabelsById(useWorkspaceId())
  const known = [...labels.values()].filter(({ id }) => ids.includes(id))
  if (known.length === 0) return null
  const names = known.map(({ name }) => name).join(', ')
  if (isSmall) {
    return (
      <span className={styles.dots} role="img" aria-label={names} title={names}>
        {known.map(({ id, color }) => (
          <LabelDot key={id} color={color} />
        ))}
      </span>
    )
  }
  return (
    <span className={styles.chips} title={names}>
      {known.map(({ id, name, color }) => (
        <LabelChip key={id} name={name} color={color} />
      ))}
    </span>
  )
}
