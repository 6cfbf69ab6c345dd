import type { ButtonProps } from '@mantine/core'
import { IconTag } from '@tabler/icons-react'
import { useSetLabel } from '../../data/change-lead.ts'
import type { Lead } from '../../data/leads.ts'
import { DropdownButton } from '../../shared/DropdownButton.tsx'
import { t } from '../../text/index.ts'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { LabelChips } from './LabelChips.tsx'
import styles from './labels.module.css'

const LabelPicker = prefetchedComponent(() => import('../../shared/LabelPicker.tsx'))

interface LabelButtonProps extends ButtonProps {
  hasLabel(id: string): boolean
  set(id: string, isOn: boolean): void
  /** Whether a choice closes the list. */
  isOne?: boolean
  children: string
}

/** Button with a list of labels. */
export function LabelButton({ hasLabel, set, isOne = false, ...button }: LabelButtonProps) {
  const chooseIn = (dropdown: Dropdown) => (id: string, isOn: boolean) => {
    if (isOne) dropdown.setOpen(false)
    set(id, isOn)
  }
  return (
    <DropdownButton
      {...button}
      popup="dialog"
      content={(dropdown) => <LabelPicker dropdown={dropdown} hasLabel={hasLabel} set={chooseIn(dropdown)} />}
    />
  )
}

/** Labels of a lead, editable. */
export function LeadLabels({ lead }: { lead: Lead }) {
  const setLabel = useSetLabel(useWorkspaceId())
  const ids = lead.labelIds ?? []
  return (
    <div className={styles.row}>
      <LabelChips ids={ids} />
      <LabelButton
        leftSection={<IconTag size={14} />}
        hasLabel={(id) => ids.includes(id)}
        set={(id, isOn) => void setLabel(lead, id, isOn).catch(showError)}
      >
        {t.views.labels.title}
      </LabelButton>
    </div>
  )
}
