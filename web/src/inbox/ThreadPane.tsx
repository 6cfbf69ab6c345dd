import { useLocation } from '@tanstack/react-router'
import { Suspense, useEffect, useRef } from 'react'
import { ApiError } from '../api/api-error.ts'
import { useAgentDraft } from '../data/inbox/agent-drafts.ts'
import { useDetail } from '../data/inbox/queries.ts'
import { t, withTexts } from '../text/index.ts'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { ShortcutsQueued } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { Composer } from './compose/Composer.tsx'
import { OwnerBar, StandbyBar } from './compose/OwnerBar.tsx'
import { useInboxContext } from './parts/inbox-context.ts'
import { customerName } from './parts/inbox-texts.ts'
import { TypingLine, usePresence } from './parts/presence.tsx'
import styles from './ThreadPane.module.css'
import { Thread, type ThreadHandle } from './thread/Thread.tsx'
import { ThreadHeader } from './thread/ThreadHeader.tsx'
import { ThreadProvider } from './thread/ThreadProvider.tsx'

// Loaded shortly after the thread, which matters most.
const MessageGestures = prefetchedComponent(() => import('./quote/MessageGestures.tsx'))
const ApproveDraft = prefetchedComponent(() => withTexts(() => import('./approve/ApproveDraft.tsx')))
const FollowUpBar = prefetchedComponent(() => withTexts(() => import('./follow/FollowUpBar.tsx')))
const CustomerPane = prefetchedComponent(() => withTexts(() => import('./customer/CustomerPane.tsx')))

const isUuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

interface ThreadPaneProps {
  id: string
  showsCustomer: boolean
  setShowsCustomer(shows: boolean): void
}

/** Thread with the message field, and the customer pane beside it. */
export function ThreadPane({ id, showsCustomer, setShowsCustomer }: ThreadPaneProps) {
  const workspaceId = useWorkspaceId()
  const { close } = useInboxContext()
  const { data, error, refetch } = useDetail(workspaceId, id)
  const people = usePresence(id)
  const draft = useAgentDraft(workspaceId, id)
  const thread = useRef<ThreadHandle>(null)
  const pane = useRef<HTMLElement>(null)
  const conversation = data?.conversation
  const name = conversation === undefined ? t.inbox.noName : customerName(conversation)
  const showMessage = (messageId: string) => {
    setShowsCustomer(false)
    thread.current?.toMessage(messageId)
  }
  useMessageFromAddress(thread, id, conversation !== undefined)
  // Also if it was shown before: it may have been erased.
  if (error instanceof ApiError && error.status === 404) {
    return <EmptyState title={t.inbox.notFound} action={{ label: t.inbox.backToList, run: close }} />
  }
  if (conversation === undefined) {
    if (error !== null) return <ErrorState error={error} retry={() => void refetch()} />
    return (
      <div className={styles.panes}>
        <ShortcutsQueued />
      </div>
    )
  }
  return (
    <ThreadProvider conversationId={id} customerName={name} showMessage={showMessage}>
      <div className={styles.panes} data-customer={showsCustomer || undefined}>
        <section ref={pane} id="thread" tabIndex={-1} className={styles.pane} aria-label={t.inbox.thread({ name })}>
          <ThreadHeader
            conversation={conversation}
            people={people}
            showsCustomer={showsCustomer}
            toggleCustomer={() => setShowsCustomer(!showsCustomer)}
          />
          <Thread ref={thread} conversation={conversation} />
          <Suspense>
            <MessageGestures conversation={conversation} pane={pane} />
          </Suspense>
          <TypingLine people={people} />
          <StandbyBar conversation={conversation} />
          <OwnerBar conversation={conversation} />
          {draft !== null && (
            <Suspense>
              <ApproveDraft key={draft.id} conversationId={id} draft={draft} />
            </Suspense>
          )}
          <Suspense>
            <FollowUpBar key={id} conversationId={id} />
          </Suspense>
          <Composer conversation={conversation} pane={pane} onSent={() => thread.current?.toNewest()} />
        </section>
        <aside className={styles.customer} aria-label={t.inbox.customer}>
          <Suspense>
            <CustomerPane conversation={conversation} />
          </Suspense>
        </aside>
      </div>
    </ThreadProvider>
  )
}

/** Scrolls to the message in the address, as in links of the player; following the same link again scrolls again. */
function useMessageFromAddress(thread: { current: ThreadHandle | null }, id: string, isLoaded: boolean): void {
  const place = useLocation({
    // The hash of another conversation, during navigation, is not a message of this one.
    select: ({ pathname, hash, state }) => (pathname.includes(id) ? `${hash} ${state.__TSR_key ?? ''}` : ''),
  })
  useEffect(() => {
    const [messageId = ''] = place.split(' ')
    if (isLoaded && isUuid.test(messageId)) thread.current?.toMessage(messageId)
  }, [thread, isLoaded, place])
}
