import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { useDetail } from '../../data/inbox/queries.ts'
import type { Review } from '../../data/team/reviews.ts'
import { t } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { customerName } from '../parts/inbox-texts.ts'
import { ThreadContext, type ThreadContextValue } from '../parts/thread-context.ts'
import { Thread, type ThreadHandle } from '../thread/Thread.tsx'
import styles from './QueuePage.module.css'

const Viewer = prefetchedComponent(() => import('../media/Viewer.tsx'))

interface ReviewedConversationProps {
  review: Review
  /** To the list, on phones. */
  back(): void
}

/** The conversation at the end of the case, without anything that changes it. */
export function ReviewedConversation({ review, back }: ReviewedConversationProps) {
  const workspaceId = useWorkspaceId()
  const { conversationId: id, messageId } = review
  const query = useDetail(workspaceId, id)
  const thread = useRef<ThreadHandle>(null)
  const [openFile, setOpenFile] = useState<string | null>(null)
  const conversation = query.data?.conversation
  const name = conversation === undefined ? t.inbox.noName : customerName(conversation)
  const inThread = useMemo<ThreadContextValue>(
    () => ({
      conversationId: id,
      customerName: name,
      showMessage: (shownId) => thread.current?.toMessage(shownId),
      openFile: setOpenFile,
    }),
    [id, name],
  )
  const isLoaded = conversation !== undefined
  useEffect(() => {
    if (isLoaded && messageId !== null) thread.current?.toMessage(messageId)
  }, [isLoaded, messageId])
  return (
    <section className={styles.conversation} aria-label={t.inbox.thread({ name })}>
      <div className={styles.bar}>
        <Button size="compact-sm" variant="default" className={styles.back} onClick={back}>
          {t.inbox.backToList}
        </Button>
        <h2 dir="auto">{name}</h2>
        <Anchor component={Link} to={`/w/${workspaceId}/inbox/${id}`} size="sm">
          {t.review.inInbox}
        </Anchor>
      </div>
      <QueryBoundary query={query} rows={8}>
        {(detail) => (
          <ThreadContext value={inThread}>
            <Thread ref={thread} conversation={detail.conversation} marksRead={false} />
            {openFile !== null && (
              <Suspense fallback={<ShortcutsBlocked />}>
                <Viewer messageId={openFile} close={() => setOpenFile(null)} />
              </Suspense>
            )}
          </ThreadContext>
        )}
      </QueryBoundary>
    </section>
  )
}
