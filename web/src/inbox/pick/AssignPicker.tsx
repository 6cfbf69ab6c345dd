import { isAway, useMemberList } from '../../data/team/members.ts'
import { useTeamList } from '../../data/team/routing.ts'
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
  /** Also offers teams, of which the id is undefined if several conversations differ; absent where only people can be chosen. */
  team?: { id: string | null | undefined; move(team: Assignee | null): void }
}

const nobody = 'nobody'
const teamPrefix = 'team '

export default function AssignPicker({ dropdown, assignedTo, assign, team }: AssignPickerProps) {
  const workspaceId = useWorkspaceId()
  const members = useMemberList(workspaceId)
  const teams = useTeamList(workspaceId)
  const { id: userId, name } = currentUser()
  const { actions } = t.inbox
  const colleagues = members.filter((member) => member.userId !== userId)
  const items: PickerItem[] = [
    { id: userId, label: actions.toMe, hint: name, isOn: assignedTo === userId },
    ...colleagues.map((one) => ({
      id: one.userId,
      label: one.name,
      ...(isAway(one) && { hint: t.common.away }),
      isOn: assignedTo === one.userId,
    })),
    { id: nobody, label: actions.nobody, isOn: assignedTo === null },
    ...(team === undefined ? [] : teams).map(({ id, name }) => ({
      ...{ id: `${teamPrefix}${id}`, label: name, hint: actions.team, isOn: team?.id === id },
    })),
    ...(team === undefined || team.id === null ? [] : [{ id: teamPrefix, label: actions.noTeam, isOn: false }]),
  ]
  const nameOf = (id: string) => (id === userId ? name : (colleagues.find((one) => one.userId === id)?.name ?? ''))
  const choose = (id: string) => {
    if (!id.startsWith(teamPrefix)) return assign(id === nobody ? null : { id, name: nameOf(id) })
    team?.move(teams.find((one) => `${teamPrefix}${one.id}` === id) ?? null)
  }
  return (
    <Picker
      dropdown={dropdown}
      label={actions.assign}
      placeholder={t.triage.pick.assignSearch}
      items={items}
      choose={({ id }) => choose(id)}
    />
  )
}
