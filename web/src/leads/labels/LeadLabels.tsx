import { Button } from '@mantine/core'
import { IconTag } from '@tabler/icons-react'
import { useState } from 'react'
import { useSetLabel } from '../../data/change-lead.ts'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { LabelChips } from './LabelChips.tsx'
import styles from './labels.module.css'

const LabelPicker = prefetchedComponent(() => import('../../shared/LabelPicker.tsx'))

/** Labels of a lead, editable. */
export function LeadLabels({ lead }: { lead: Lead }) {
  const setLabel = useSetLabel(useWorkspaceId())
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  const ids = lead.labelIds ?? []
  return (
    <div className={styles.row}>
      <LabelChips ids={ids} />
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<IconTag size={14} />}
        {...dropdownButtonProps(dropdown, 'dialog')}
      >
        {t.views.labels.title}
      </Button>
      <DropdownContent dropdown={dropdown}>
        <LabelPicker
          dropdown={dropdown}
          hasLabel={(id) => ids.includes(id)}
          set={(id, isOn) => void setLabel(lead, id, isOn).catch(showError)}
        />
      </DropdownContent>
    </div>
  )
}
