import { Checkbox, Stack } from '@mantine/core'
import { useLabelsById } from '../../data/labels.ts'
import { t } from '../../text/index.ts'
import { LabelDot } from '../../ui/LabelDot.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../LeadsPage.module.css'

interface LabelFilterProps {
  title: string
  /** Ids with commas. */
  value: string | undefined
  set(value: string | undefined): void
}

const most = 20

/** Which labels a filter is about. */
export function LabelFilter({ title, value, set }: LabelFilterProps) {
  const labels = [...useLabelsById(useWorkspaceId()).values()]
  const chosen = value?.split(',') ?? []
  return (
    <Checkbox.Group
      label={title}
      value={chosen}
      onChange={(ids) => ids.length <= most && set(ids.length === 0 ? undefined : ids.join(','))}
    >
      <Stack gap={8} mt={8} className={styles.choices}>
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
