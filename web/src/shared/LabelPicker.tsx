import { IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { labelColorValues } from '../api/schema.ts'
import { createLabel, labelsKey, useLabelsById } from '../data/labels.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { foldText } from '../ui/format/fold-text.ts'
import { LabelDot } from '../ui/LabelDot.tsx'
import type { Dropdown } from '../ui/overlay/dropdown.tsx'
import { Picker, type PickerItem } from '../ui/overlay/Picker.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface LabelPickerProps {
  dropdown: Dropdown
  /** Whether the label is set; `some` if only on some of several. */
  hasLabel(labelId: string): boolean | 'some'
  set(labelId: string, isOn: boolean): void
}

interface LabelItem extends PickerItem {
  /** Name of a label to be created. */
  name?: string
}

const maxName = 50

export default function LabelPicker({ dropdown, hasLabel, set }: LabelPickerProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const labels = useLabelsById(workspaceId)
  const { pick } = t.triage
  const items: LabelItem[] = [...labels.values()].map(({ id, name, color }) => ({
    id,
    label: name,
    isOn: hasLabel(id),
    icon: <LabelDot color={color} />,
  }))
  const created = (term: string): LabelItem | null => {
    const isKnown = items.some(({ label }) => foldText(label) === foldText(term))
    if (isKnown || term.length > maxName || !hasRole(workspaceId, 'admin')) return null
    return {
      id: 'new',
      label: pick.createLabel({ name: term }),
      icon: <IconPlus size={16} aria-hidden="true" />,
      name: term,
    }
  }
  const make = async (name: string) => {
    // The next color in turn, so that neighbors differ.
    const color = labelColorValues[labels.size % labelColorValues.length] ?? 'grey'
    const { label } = await createLabel(workspaceId, { name, color })
    await queries.invalidateQueries({ queryKey: labelsKey(workspaceId) })
    showToast(pick.labelCreated({ name }))
    set(label.id, true)
  }
  return (
    <Picker
      dropdown={dropdown}
      label={t.inbox.actions.label}
      placeholder={pick.labelSearch}
      items={items}
      none={pick.noLabels}
      isMany
      created={created}
      choose={({ id, isOn, name }) => (name === undefined ? set(id, isOn !== true) : void make(name).catch(showError))}
    />
  )
}
