import { useLabelsById } from '../../data/labels.ts'
import { LabelChip, LabelDot } from '../../ui/LabelDot.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './labels.module.css'

interface LabelChipsProps {
  ids: readonly string[]
  /** Dots alone, their names beside them for who cannot see or points at them. */
  isSmall?: boolean
}

/** The labels of a lead in the order of their names; one that is deleted is not there. */
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
