import { Menu } from '@mantine/core'
import { t } from '../text/index.ts'
import type { Drop } from '../ui/drop.tsx'
import { sayWithUndo } from '../ui/notices.tsx'
import { ActionItems } from './ActionItems.tsx'
import { patchConversation } from './actions.ts'
import { useInbox } from './queries.ts'
import { snoozeTimes } from './snooze-times.ts'
import type { Conversation } from './types.ts'

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
