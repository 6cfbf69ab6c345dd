import { Select } from '@mantine/core'
import { patchConversation } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { type Conversation, type Priority, priorities } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'

/** Priority of the conversation; choosing one saves it. */
export function PrioritySelect({ conversation: { id, priority } }: { conversation: Conversation }) {
  const inbox = useInbox()
  return (
    <Select
      size="xs"
      aria-label={t.inbox.priority}
      data={priorities.toReversed().map((value) => ({ value, label: t.inbox.priorities[value] }))}
      value={priority}
      placeholder={t.inbox.noPriority}
      clearable
      onChange={(value) => void patchConversation(inbox, id, { priority: value as Priority | null })}
    />
  )
}
