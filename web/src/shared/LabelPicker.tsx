import { IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { labelColorValues } from '../api/schema.ts'
import { createLabel, labelsKey, useLabelsById } from '../data/labels.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { plain } from '../ui/format/plain.ts'
import { LabelDot } from '../ui/LabelDot.tsx'
import type { Drop } from '../ui/overlay/drop.tsx'
import { complain, say } from '../ui/overlay/notices.tsx'
import { Picker, type PickerItem } from '../ui/overlay/Picker.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface LabelPickerProps {
  drop: Drop
  /** Whether a label is carried, or by some of those that are asked about. */
  carries(labelId: string): boolean | 'some'
  set(labelId: string, isOn: boolean): void
}

interface LabelItem extends PickerItem {
  /** The name of one that is to be made. */
  name?: string
}

const maxName = 50

export default function LabelPicker({ drop, carries, set }: LabelPickerProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const labels = useLabelsById(workspaceId)
  const { pick } = t.triage
  const items: LabelItem[] = [...labels.values()].map(({ id, name, color }) => ({
    id,
    label: name,
    isOn: carries(id),
    icon: <LabelDot color={color} />,
  }))
  const made = (term: string): LabelItem | null => {
    const isKnown = items.some(({ label }) => plain(label) === plain(term))
    if (isKnown || term.length > maxName || !mayIn(workspaceId, 'admin')) return null
    return {
      id: 'new',
      label: pick.createLabel({ name: term }),
      icon: <IconPlus size={16} aria-hidden="true" />,
      name: term,
    }
  }
  const make = async (name: string) => {
    // The next one of them all, so that neighbours differ.
    const color = labelColorValues[labels.size % labelColorValues.length] ?? 'grey'
    const { label } = await createLabel(workspaceId, { name, color })
    await queries.invalidateQueries({ queryKey: labelsKey(workspaceId) })
    say(pick.labelMade({ name }))
    set(label.id, true)
  }
  return (
    <Picker
      drop={drop}
      label={t.inbox.actions.label}
      placeholder={pick.labelSearch}
      items={items}
      none={pick.noLabels}
      isMany
      made={made}
      choose={({ id, isOn, name }) => (name === undefined ? set(id, isOn !== true) : void make(name).catch(complain))}
    />
  )
}
