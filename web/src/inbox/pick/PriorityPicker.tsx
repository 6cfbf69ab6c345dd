import { type Priority, priorities } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'

interface PriorityPickerProps {
  dropdown: Dropdown
  /** Undefined if several conversations differ. */
  priority: Priority | null | undefined
  choose(priority: Priority | null): void
}

export default function PriorityPicker({ dropdown, priority, choose }: PriorityPickerProps) {
  const { inbox } = t
  const items = [
    ...priorities.toReversed().map((id) => ({ id, label: inbox.priorities[id], isOn: priority === id })),
    { id: 'none', label: inbox.noPriority, isOn: priority === null },
  ]
  return (
    <Picker
      dropdown={dropdown}
      label={inbox.priority}
      placeholder={inbox.priority}
      items={items}
      choose={({ id }) => choose(priorities.find((one) => one === id) ?? null)}
    />
  )
}
