import { Button, Menu } from '@mantine/core'
import type { BulkChangeInput } from '../../data/bulk-changes.ts'
import { useSequences } from '../../data/outreach/sequences.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../LeadsPage.module.css'

/** Adds the selected leads to a sequence; shown if one is on. */
export function BulkSequence({ start }: { start(input: BulkChangeInput): void }) {
  const sequences = (useSequences(useWorkspaceId()).data ?? []).filter(({ enabled }) => enabled)
  if (sequences.length === 0) return null
  return (
    <Menu position="top">
      <Menu.Target>
        <Button variant="default" size="compact-sm">
          {t.leads.bulk.sequence}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={styles.choices}>
        {sequences.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => start({ sequenceId: id })}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
