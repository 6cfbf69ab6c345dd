import { IconArrowLeft, IconLayoutSidebarRight } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import { Suspense, useEffect, useRef } from 'react'
import { ApiError } from '../api/api-error.ts'
import { useAgentDraft } from '../data/inbox/agent-drafts.ts'
import { useDetail } from '../data/inbox/queries.ts'
import type { Conversation, Person } from '../data/inbox/types.ts'
import { t, withTexts } from '../text/index.ts'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { ShortcutsQueued } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { Composer } from './compose/Composer.tsx'
import { OwnerBar, StandbyBar } from './compose/OwnerBar.tsx'
import { useNow } from './list/ConversationRows.tsx'
import { LabelList, useConversationLabels } from './parts/ConversationLabels.tsx'
import { GoalChip } from './parts/GoalChip.tsx'
import { IconButton } from './parts/IconButton.tsx'
import { useInboxContext } from './parts/inbox-context.ts'
import { customerName, phoneLabel, snoozeText } from './parts/inbox-texts.ts'
import { PresenceAvatars, TypingLine, usePresence } from './parts/presence.tsx'
import styles from './ThreadPane.module.css'
import { Thread, type ThreadHandle } from './thread/Thread.tsx'
import { ThreadActions } from './thread/ThreadActions.tsx'
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

interface ThreadHeaderProps {
  conversation: Conversation
  people: readonly Person[]
  showsCustomer: boolean
  toggleCustomer(): void
}

function ThreadHeader({ conversation, people, showsCustomer, toggleCustomer }: ThreadHeaderProps) {
  const { close } = useInboxContext()
  const labels = useConversationLabels(conversation.labelIds)
  const facts = factsOf(conversation)
  const now = useNow()
  const customerLabel = showsCustomer ? t.inbox.hideCustomer : t.inbox.showCustomer
  return (
    <header className={styles.head}>
      <div className={styles.header}>
        <IconButton
          icon={IconArrowLeft}
          iconSize={20}
          stroke={1.6}
          size="lg"
          label={t.inbox.backToList}
          title={undefined}
          className={styles.back}
          onClick={showsCustomer ? toggleCustomer : close}
        />
        <div className={styles.who}>
          <h2 className={styles.name} dir="auto">
            {customerName(conversation)}
          </h2>
          {/* Facts that do not fit are hidden completely; the panel shows all of them. */}
          <div className={styles.facts} title={facts.join(' · ')}>
            {conversation.goal !== null && <GoalChip goal={conversation.goal} now={now} />}
            {[...new Set(facts)].map((fact) => (
              <span key={fact}>{fact}</span>
            ))}
          </div>
        </div>
        <PresenceAvatars people={people} />
        <ThreadActions conversation={conversation} />
        <IconButton
          icon={IconLayoutSidebarRight}
          stroke={1.6}
          size="lg"
          label={customerLabel}
          tip={customerLabel}
          className={`${styles.customerButton} ${styles.act}`}
          aria-expanded={showsCustomer}
          onClick={toggleCustomer}
        >
          <span>{t.inbox.customer}</span>
        </IconButton>
      </div>
      {labels.length > 0 && <LabelList labels={labels} />}
    </header>
  )
}

/** Returns the facts, most actionable first. */
function factsOf(conversation: Conversation): string[] {
  const { contact, connectionName, status, snoozedUntil, assignedToName, teamName, priority } = conversation
  const phone = contact.name === null ? null : phoneLabel(contact.phone)
  const state = status === 'snoozed' ? snoozeText(snoozedUntil) : t.inbox.statuses[status]
  const priorityName = priority === null ? null : t.inbox.priorities[priority]
  const facts = [status === 'open' ? null : state, priorityName, assignedToName, teamName, phone, connectionName]
  return facts.filter((fact) => fact !== null)
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
