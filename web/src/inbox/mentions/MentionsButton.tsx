import { ActionIcon } from '@mantine/core'
import { IconAt } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { markMentionsReadIn, useUnreadMentions } from '../../data/inbox/mentions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { t } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import styles from './Mentions.module.css'

const MentionsDropdown = prefetchedComponent(() => import('./MentionsDropdown.tsx'))

/** Number of unread notes that mention me, with a list of them. */
export default function MentionsButton() {
  const inbox = useInbox()
  const unread = useUnreadMentions(inbox.workspaceId)
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  useMarkOpenRead(unread)
  const label = t.triage.mentions.unread({ n: unread })
  return (
    <>
      <ActionIcon
        {...dropdownButtonProps(dropdown, 'dialog')}
        className={styles.button}
        variant="subtle"
        color="gray"
        aria-label={label}
        title={label}
      >
        <IconAt size={18} stroke={1.6} />
        {unread > 0 && (
          <span className={styles.badge} aria-hidden="true">
            {unread > 99 ? '99+' : unread}
          </span>
        )}
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>
        <MentionsDropdown dropdown={dropdown} unread={unread} />
      </DropdownContent>
    </>
  )
}

/** Marks mentions as read when their conversation is opened. */
function useMarkOpenRead(unread: number): void {
  const inbox = useInbox()
  const { conversationId } = useParams({ strict: false })
  const isUnread = unread > 0
  useEffect(() => {
    if (!isUnread || conversationId === undefined) return
    const read = () => {
      if (document.visibilityState === 'visible') void markMentionsReadIn(inbox, conversationId).catch(() => {})
    }
    read()
    document.addEventListener('visibilitychange', read)
    return () => document.removeEventListener('visibilitychange', read)
  }, [inbox, conversationId, isUnread])
}
