import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { readMentionsOf, useMentions } from '../../data/inbox/mentions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Mention } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { fullMoment, shortMoment } from '../../ui/format/time.ts'
import { DropPanel } from '../../ui/overlay/DropPanel.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { complain } from '../../ui/overlay/notices.tsx'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { wordsOf } from '../parts/markup.ts'
import { customerName } from '../parts/words.ts'
import styles from './Mentions.module.css'

/** The notes that name me, newest first; each leads to where it stands. */
export default function MentionsDrop({ drop, unread }: { drop: Drop; unread: number }) {
  const inbox = useInbox()
  const texts = t.triage.mentions
  return (
    <DropPanel drop={drop} label={texts.title} position="bottom-end" width={320}>
      <header className={styles.header}>
        <h2>{texts.title}</h2>
        {unread > 0 && (
          <Button size="compact-xs" variant="subtle" onClick={() => void readMentionsOf(inbox, null).catch(complain)}>
            {texts.allRead}
          </Button>
        )}
      </header>
      <List drop={drop} />
    </DropPanel>
  )
}

function List({ drop }: { drop: Drop }) {
  const { workspaceId } = useInbox()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useMentions(workspaceId)
  const texts = t.triage.mentions
  if (data === undefined) {
    if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
    return <div className={styles.shape} aria-busy="true" />
  }
  const mentions = data.pages.flatMap((page) => page.mentions)
  if (mentions.length === 0) return <p className={styles.empty}>{texts.empty}</p>
  return (
    <>
      <ul className={styles.list}>
        {mentions.map((mention) => (
          <li key={mention.note.id}>
            <MentionLink mention={mention} close={() => drop.setOpen(false)} />
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button
          size="xs"
          variant="default"
          fullWidth
          loading={isFetchingNextPage}
          onClick={() => void fetchNextPage().catch(complain)}
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
        <time className={styles.time} dateTime={note.createdAt} title={fullMoment(note.createdAt)}>
          {shortMoment(note.createdAt)}
        </time>
      </span>
      <span className={styles.text} dir="auto">
        {wordsOf(note.text)}
      </span>
    </Link>
  )
}
