import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { markMentionsReadIn, useMentions } from '../../data/inbox/mentions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Mention } from '../../data/inbox/types.ts'
import { stripMarkup } from '../../shared/markup/markup.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { DropdownPanel } from '../../ui/overlay/DropdownPanel.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { customerName } from '../parts/inbox-texts.ts'
import styles from './Mentions.module.css'

/** Notes that mention me, newest first, with links to them. */
export default function MentionsDropdown({ dropdown, unread }: { dropdown: Dropdown; unread: number }) {
  const inbox = useInbox()
  const texts = t.triage.mentions
  return (
    <DropdownPanel dropdown={dropdown} label={texts.title} position="bottom-end" width={320}>
      <header className={styles.header}>
        <h2>{texts.title}</h2>
        {unread > 0 && (
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => void markMentionsReadIn(inbox, null).catch(showError)}
          >
            {texts.allRead}
          </Button>
        )}
      </header>
      <List dropdown={dropdown} />
    </DropdownPanel>
  )
}

function List({ dropdown }: { dropdown: Dropdown }) {
  const { workspaceId } = useInbox()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useMentions(workspaceId)
  const texts = t.triage.mentions
  if (data === undefined) {
    if (error !== null) return <ErrorState error={error} retry={() => void refetch()} />
    return <div className={styles.skeleton} aria-busy="true" />
  }
  const mentions = data.pages.flatMap((page) => page.mentions)
  if (mentions.length === 0) return <p className={styles.empty}>{texts.empty}</p>
  return (
    <>
      <ul className={styles.list}>
        {mentions.map((mention) => (
          <li key={mention.note.id}>
            <MentionLink mention={mention} close={() => dropdown.setOpen(false)} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button
          size="xs"
          variant="default"
          fullWidth
          loading={isFetchingNextPage}
          onClick={() => void fetchNextPage().catch(showError)}
        >
          {texts.more}
        </Button>
      )}
    </>
  )
}

interface MentionLinkProps {
  mention: Mention
  close(): void
}

function MentionLink({ mention: { note, conversation, readAt }, close }: MentionLinkProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.triage.mentions
  const who = note.actor.name ?? t.inbox.teammate
  return (
    <Link
      to="/w/$workspaceId/inbox/{-$conversationId}"
      params={{ workspaceId, conversationId: conversation.id }}
      hash={note.id}
      search={true}
      className={styles.mention}
      data-unread={readAt === null || undefined}
      onClick={close}
    >
      <span className={styles.head}>
        <span className={styles.by}>{texts.by({ who, customer: customerName(conversation) })}</span>
        {readAt === null && <i className={styles.dot} role="img" aria-label={texts.isUnread} />}
        <time className={styles.time} dateTime={note.createdAt} title={formatDateTime(note.createdAt)}>
          {formatShortTime(note.createdAt)}
        </time>
      </span>
      <span className={styles.text} dir="auto">
        {stripMarkup(note.text)}
      </span>
    </Link>
  )
}
