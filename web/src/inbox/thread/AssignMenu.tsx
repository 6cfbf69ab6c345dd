import { Menu } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { assign } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useMemberList } from '../../data/members.ts'
import { me } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ActionItems } from './ActionItems.tsx'

interface AssignMenuProps {
  drop: Drop
  conversation: Conversation
}

export default function AssignMenu({ drop, conversation: { id, assignedTo } }: AssignMenuProps) {
  const workspaceId = useWorkspaceId()
  const inbox = useInbox()
  const members = useMemberList(workspaceId)
  const { id: userId, name } = me()
  const colleagues = members.filter((member) => member.userId !== userId)
  const away = new Set(members.flatMap((member) => (member.awaySince === null ? [] : [member.userId])))
  const item = (key: string | null, label: string, member: { id: string; name: string } | null) => (
    <Menu.Item
      key={key ?? 'nobody'}
      rightSection={
        <>
          {key !== null && away.has(key) && <Chip tone="attention">{t.common.away}</Chip>}
          {assignedTo === key && <IconCheck size={16} />}
        </>
      }
      onClick={() => void assign(inbox, id, member)}
    >
      {label}
    </Menu.Item>
  )
  return (
    <ActionItems drop={drop} label={t.inbox.actions.assign}>
      {item(userId, t.inbox.actions.toMe, { id: userId, name })}
      {colleagues.map((one) => item(one.userId, one.name, { id: one.userId, name: one.name }))}
      <Menu.Divider />
      {item(null, t.inbox.actions.nobody, null)}
    </ActionItems>
  )
}
