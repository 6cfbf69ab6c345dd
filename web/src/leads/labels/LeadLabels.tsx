import { Button } from '@mantine/core'
import { IconTag } from '@tabler/icons-react'
import { useState } from 'react'
import { useSetLabel } from '../../data/change-lead.ts'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later } from '../../ui/overlay/later.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { LabelChips } from './LabelChips.tsx'
import styles from './labels.module.css'

const LabelPicker = later(() => import('../../shared/LabelPicker.tsx'))

/** The labels of a lead, and a way to give it others. */
export function LeadLabels({ lead }: { lead: Lead }) {
  const setLabel = useSetLabel(useWorkspaceId())
  const [isOpen, setOpen] = useState(false)
  const drop = useDrop(isOpen, setOpen)
  const ids = lead.labelIds ?? []
  return (
    <div className={styles.row}>
      <LabelChips ids={ids} />
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<IconTag size={14} />}
        {...dropButton(drop, 'dialog')}
      >
        {t.views.labels.title}
      </Button>
      <Dropped drop={drop}>
        <LabelPicker
          drop={drop}
          carries={(id) => ids.includes(id)}
          set={(id, isOn) => void setLabel(lead, id, isOn).catch(complain)}
        />
      </Dropped>
    </div>
  )
}
