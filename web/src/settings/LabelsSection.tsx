import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type Label, useLabels } from '../data/labels.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { LabelDot } from '../ui/LabelDot.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { LabelPanel } from './LabelPanel.tsx'
import styles from './List.module.css'

export function LabelsSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.labels
  const query = useLabels(workspaceId)
  const [open, setOpen] = useState<Label | 'new' | null>(null)
  const mayChange = hasRole(workspaceId, 'admin')
  const create = () => setOpen('new')
  return (
    <>
      {mayChange && (
        <div className={styles.bar}>
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            {texts.create}
          </Button>
        </div>
      )}
      <QueryBoundary query={query}>
        {(labels) =>
          labels.length === 0 ? (
            <EmptyState title={texts.empty} {...(mayChange && { action: { label: texts.create, run: create } })} />
          ) : (
            <Table
              label={t.settings.sections.labels.title}
              rows={labels}
              keyOf={({ id }) => id}
              {...(mayChange && { open: setOpen })}
              columns={[
                {
                  key: 'name',
                  title: texts.name,
                  cell: ({ name, color }) => (
                    <span className={styles.label}>
                      <LabelDot color={color} />
                      {name}
                    </span>
                  ),
                },
                { key: 'color', title: texts.color, cell: ({ color }) => texts.colors[color] },
              ]}
            />
          )
        }
      </QueryBoundary>
      {open !== null && <LabelPanel label={open === 'new' ? null : open} close={() => setOpen(null)} />}
    </>
  )
}
