import { useCachedThread } from '../../data/inbox/queries.ts'
import type { Reaction } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { DropdownPanel } from '../../ui/overlay/DropdownPanel.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { authorCaption } from '../parts/inbox-texts.ts'
import { useThreadContext } from '../parts/thread-context.ts'
import styles from './parts.module.css'

export default function ReactionList({ dropdown, reactions }: { dropdown: Dropdown; reactions: readonly Reaction[] }) {
  const workspaceId = useWorkspaceId()
  const { conversationId, customerName } = useThreadContext()
  const thread = useCachedThread(workspaceId, conversationId)
  const whoOf = ({ id, direction }: Reaction): string => {
    if (direction === 'inbound') return customerName
    // Our author's name comes from the message of the reaction, if it is loaded.
    const author = thread?.items.find((item) => item.id === id)?.message?.author
    return (author && authorCaption(author)) ?? t.media.ourTeam
  }
  return (
    <DropdownPanel dropdown={dropdown} label={t.media.reactedBy} position="top">
      <ul className={styles.list}>
        {reactions.map((one) => (
          <li key={one.id}>
            <span className={styles.emoji}>{one.emoji}</span>
            <bdi>{whoOf(one)}</bdi>
            <time className={styles.muted}>{formatDateTime(one.at)}</time>
          </li>
        ))}
      </ul>
    </DropdownPanel>
  )
}
