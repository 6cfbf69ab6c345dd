import { ActionIcon } from '@mantine/core'
import { IconAt } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { readMentionsOf, useUnreadMentions } from '../../data/inbox/mentions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { t } from '../../text/index.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later } from '../../ui/overlay/later.ts'
import styles from './Mentions.module.css'

const MentionsDrop = later(() => import('./MentionsDrop.tsx'))

/** How many notes name me that I have not read, and what they are. */
export default function MentionsButton() {
  const inbox = useInbox()
  const unread = useUnreadMentions(inbox.workspaceId)
  const [isOpen, setOpen] = useState(false)
  const drop = useDrop(isOpen, setOpen)
  useReadOfOpen(unread)
  const label = t.triage.mentions.unread({ n: unread })
  return (
    <>
      <ActionIcon
        {...dropButton(drop, 'dialog')}
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
      <Dropped drop={drop}>
        <MentionsDrop drop={drop} unread={unread} />
      </Dropped>
    </>
  )
}

/** Who has the conversation before them has read what is said of them there. */
function useReadOfOpen(unread: number): void {
  const inbox = useInbox()
  const { conversationId } = useParams({ strict: false })
  const isUnread = unread > 0
  useEffect(() => {
    if (!isUnread || conversationId === undefined) return
    const read = () => {
      if (document.visibilityState === 'visible') void readMentionsOf(inbox, conversationId).catch(() => {})
    }
    read()
    document.addEventListener('visibilitychange', read)
    return () => document.removeEventListener('visibilitychange', read)
  }, [inbox, conversationId, isUnread])
}
