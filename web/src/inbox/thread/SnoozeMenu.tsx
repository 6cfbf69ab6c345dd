import { Menu } from '@mantine/core'
import { patchConversation } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { sayWithUndo } from '../../ui/overlay/notices.tsx'
import { ActionItems } from './ActionItems.tsx'
import { snoozeTimes } from './snooze-times.ts'

export default function SnoozeMenu({ drop, conversation }: { drop: Drop; conversation: Conversation }) {
  const inbox = useInbox()
  const { id, status, snoozedUntil } = conversation
  const before = { status, ...(status === 'snoozed' && { snoozedUntil }) }
  const snooze = (until: Date | null) =>
    patchConversation(inbox, id, { status: 'snoozed', snoozedUntil: until?.toISOString() ?? null }).then((isDone) => {
      if (isDone) sayWithUndo(t.inbox.actions.snoozed, () => void patchConversation(inbox, id, before))
    })
  return (
    <ActionItems drop={drop} label={t.inbox.actions.snooze}>
      {snoozeTimes(new Date()).map(({ name, until }) => (
        <Menu.Item key={name} onClick={() => void snooze(until)}>
          {t.inbox.snoozes[name]}
        </Menu.Item>
      ))}
    </ActionItems>
  )
}
