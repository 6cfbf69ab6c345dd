import { Anchor, Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useDetail } from '../../data/inbox/queries.ts'
import { usePeople } from '../../data/people.ts'
import { claimReview, type Review, type ReviewStatus, refetchReviews, useReviews } from '../../data/team/reviews.ts'
import { currentUser, hasRole } from '../../session/session.ts'
import { ReviewTabs } from '../../shared/ReviewTabs.tsx'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { customerName } from '../parts/inbox-texts.ts'
import { Thread, type ThreadHandle } from '../thread/Thread.tsx'
import { ThreadProvider } from '../thread/ThreadProvider.tsx'
import styles from './QueuePage.module.css'
import { Scorecard } from './Scorecard.tsx'

const statuses: readonly ReviewStatus[] = ['waiting', 'reviewed', 'skipped']

/** Conversations of agents that people review: a list, the conversation, and its scorecard. */
export function QueuePage() {
  const workspaceId = useWorkspaceId()
  const [status, setStatus] = useState<ReviewStatus>('waiting')
  const query = useReviews(workspaceId, status)
  const reviews = useMemo(() => query.data?.pages.flatMap((page) => page.reviews) ?? [], [query.data])
  const { open, openId, claimed, done } = useOpenReview(reviews)
  const shown = reviews.find(({ id }) => id === openId) ?? claimed
  return (
    <>
      <PageHeader title={t.common.pages.review}>
        <ReviewTabs />
      </PageHeader>
      <div className={styles.panes} data-open={shown === null ? undefined : true}>
        <section className={styles.list} aria-label={t.review.tabs.queue}>
          <div className={styles.filter}>
            <Segments
              label={t.review.status}
              data={statuses.map((value) => ({ value, label: t.review.statuses[value] }))}
              value={status}
              onChange={(next) => {
                open(null)
                setStatus(next)
              }}
              isWide
            />
          </div>
          <QueryBoundary query={query} rows={6}>
            {() => <Rows reviews={reviews} status={status} openId={openId} open={open} />}
          </QueryBoundary>
          {query.hasNextPage && (
            <Button
              variant="default"
              className={styles.more}
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              {t.review.more}
            </Button>
          )}
        </section>
        {shown === null ? (
          <p className={styles.nothing}>{t.review.choose}</p>
        ) : (
          <>
            <ReviewedConversation key={shown.id} review={shown} back={() => open(null)} />
            <Scorecard key={`${shown.id} card`} review={shown} done={done} />
          </>
        )}
      </div>
    </>
  )
}

/** The open review: reserves it, and moves to the next and previous one. */
function useOpenReview(reviews: readonly Review[]) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [openId, setOpenId] = useState<string | null>(null)
  // Stays while the list is loaded again without it.
  const [claimed, setClaimed] = useState<Review | null>(null)
  const open = useCallback((id: string | null) => {
    setOpenId(id)
    setClaimed(null)
  }, [])
  const chosen = reviews.find(({ id }) => id === openId)
  const isWaiting = chosen?.status === 'waiting'
  useEffect(() => {
    if (openId === null || !isWaiting) return
    let isHere = true
    claimReview(workspaceId, openId).then(
      ({ review }) => isHere && setClaimed(review),
      (error: unknown) => {
        if (!isHere) return
        showError(error)
        setOpenId(null)
        void refetchReviews(queries, workspaceId)
      },
    )
    return () => {
      isHere = false
    }
  }, [workspaceId, queries, openId, isWaiting])
  const move = useCallback(
    (by: 1 | -1) => {
      const at = reviews.findIndex(({ id }) => id === openId)
      const next = at === -1 ? reviews[0] : reviews[at + by]
      if (next !== undefined) open(next.id)
    },
    [reviews, openId, open],
  )
  useShortcuts(
    t.review.tabs.queue,
    useMemo(
      () => [
        { keys: 'j', label: t.review.next, run: () => move(1) },
        { keys: 'k', label: t.review.previous, run: () => move(-1) },
        ...(openId === null ? [] : [{ keys: 'Escape', label: t.common.keys.back, run: () => open(null) }]),
      ],
      [move, open, openId],
    ),
  )
  /** Goes on to the next one that waits. */
  const done = () => {
    const rest = reviews.filter(
      ({ id, status, claimedBy }) => id !== openId && status === 'waiting' && isFree(claimedBy),
    )
    open(rest[0]?.id ?? null)
    void refetchReviews(queries, workspaceId)
  }
  return { open, openId, claimed, done }
}

const isFree = (claimedBy: string | null): boolean => claimedBy === null || claimedBy === currentUser().id

interface RowsProps {
  reviews: readonly Review[]
  status: ReviewStatus
  openId: string | null
  open(id: string): void
}

function Rows({ reviews, status, openId, open }: RowsProps) {
  const workspaceId = useWorkspaceId()
  const people = usePeople(workspaceId)
  if (reviews.length === 0) return <NoReviews status={status} />
  return (
    <ul className={styles.rows}>
      {reviews.map((review) => (
        <li key={review.id}>
          <button
            type="button"
            className={styles.row}
            aria-current={review.id === openId || undefined}
            onClick={() => open(review.id)}
          >
            <span className={styles.name} dir="auto">
              {review.name ?? t.inbox.noName}
            </span>
            <span className={styles.facts}>
              {people.nameOf(review.keyId)} · {formatDateTime(review.endedAt)}
            </span>
            <span className={styles.facts}>
              {isFree(review.claimedBy)
                ? review.reasons.map((reason) => t.review.reasons[reason]).join(' · ')
                : t.review.claimedBy({ name: people.nameOf(review.claimedBy) ?? '' })}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function NoReviews({ status }: { status: ReviewStatus }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const toRules = () => void navigate({ to: '/w/$workspaceId/review/settings', params: { workspaceId } })
  if (status !== 'waiting') return <EmptyState title={t.review.noneClosed} />
  return (
    <EmptyState
      title={t.review.none}
      help={t.review.noneHelp}
      {...(hasRole(workspaceId, 'admin') && { action: { label: t.review.setRules, run: toRules } })}
    />
  )
}

interface ReviewedConversationProps {
  review: Review
  /** To the list, on phones. */
  back(): void
}

/** The conversation at the end of the case, without anything that changes it. */
function ReviewedConversation({ review, back }: ReviewedConversationProps) {
  const workspaceId = useWorkspaceId()
  const { conversationId: id, messageId } = review
  const query = useDetail(workspaceId, id)
  const thread = useRef<ThreadHandle>(null)
  const conversation = query.data?.conversation
  const name = conversation === undefined ? t.inbox.noName : customerName(conversation)
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
          <ThreadProvider
            conversationId={id}
            customerName={name}
            showMessage={(shownId) => thread.current?.toMessage(shownId)}
          >
            <Thread ref={thread} conversation={detail.conversation} marksRead={false} />
          </ThreadProvider>
        )}
      </QueryBoundary>
    </section>
  )
}
