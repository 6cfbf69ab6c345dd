import { IconAt } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { markMentionsReadIn, useUnreadMentions } from '../../data/inbox/mentions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { t } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { IconDropdown } from '../parts/IconButton.tsx'
import { useIsPageVisible } from '../parts/page-visibility.ts'
import styles from './Mentions.module.css'

const MentionsDropdown = prefetchedComponent(() => import('./MentionsDropdown.tsx'))

/** Number of unread notes that mention me, with a list of them. */
export default function MentionsButton() {
  const inbox = useInbox()
  const unread = useUnreadMentions(inbox.workspaceId)
  useMarkOpenRead(unread)
  return (
    <IconDropdown
      icon={IconAt}
      stroke={1.6}
      label={t.triage.mentions.unread({ n: unread })}
      className={styles.button}
      content={(dropdown) => <MentionsDropdown dropdown={dropdown} unread={unread} />}
    >
      {unread > 0 && (
        <span className={styles.badge} aria-hidden="true">
          {unread > 99 ? '99+' : unread}
        </span>
      )}
    </IconDropdown>
  )
}

/** Marks mentions as read when their conversation is opened. */
function useMarkOpenRead(unread: number): void {
  const inbox = useInbox()
  const { conversationId } = useParams({ strict: false })
  const isSeen = useIsPageVisible() && unread > 0
  useEffect(() => {
    if (isSeen && conversationId !== undefined) void markMentionsReadIn(inbox, conversationId).catch(() => {})
  }, [inbox, conversationId, isSeen])
}
