import { useMemberList } from '../../data/team/members.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { Picker, type PickerItem } from '../../ui/overlay/Picker.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

export interface Assignee {
  id: string
  name: string
}

interface AssignPickerProps {
  dropdown: Dropdown
  /** Undefined if several conversations differ. */
  assignedTo: string | null | undefined
  assign(member: Assignee | null): void
}

const nobody = 'nobody'

export default function AssignPicker({ dropdown, assignedTo, assign }: AssignPickerProps) {
  const workspaceId = useWorkspaceId()
  const members = useMemberList(workspaceId)
  const { id: userId, name } = currentUser()
  const { actions } = t.inbox
  const colleagues = members.filter((member) => member.userId !== userId)
  const items: PickerItem[] = [
    { id: userId, label: actions.toMe, hint: name, isOn: assignedTo === userId },
    ...colleagues.map((one) => ({
      id: one.userId,
      label: one.name,
      ...(one.awaySince !== null && { hint: t.common.away }),
      isOn: assignedTo === one.userId,
    })),
    { id: nobody, label: actions.nobody, isOn: assignedTo === null },
  ]
  const nameOf = (id: string) => (id === userId ? name : (colleagues.find((one) => one.userId === id)?.name ?? ''))
  return (
    <Picker
      dropdown={dropdown}
      label={actions.assign}
      placeholder={t.triage.pick.assignSearch}
      items={items}
      choose={({ id }) => assign(id === nobody ? null : { id, name: nameOf(id) })}
    />
  )
}
