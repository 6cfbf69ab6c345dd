import { Checkbox, Stack } from '@mantine/core'
import { useLabelsById } from '../../data/labels.ts'
import { t } from '../../text/index.ts'
import { LabelDot } from '../../ui/LabelDot.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../LeadsPage.module.css'

interface LabelFilterProps {
  title: string
  ids: readonly string[]
  set(ids: string[]): void
}

const maxLabels = 20

/** Labels to filter by. */
export function LabelFilter({ title, ids, set }: LabelFilterProps) {
  const labels = [...useLabelsById(useWorkspaceId()).values()]
  return (
    <Checkbox.Group aria-label={title} value={[...ids]} onChange={(next) => next.length <= maxLabels && set(next)}>
      <Stack gap={8} className={styles.choices}>
        {labels.length === 0 && t.triage.pick.noLabels}
        {labels.map(({ id, name, color }) => (
          <Checkbox
            key={id}
            size="xs"
            value={id}
            label={
              <>
                <LabelDot color={color} /> {name}
              </>
            }
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
