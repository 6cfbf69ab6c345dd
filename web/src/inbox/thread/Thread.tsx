import { memo, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { markRead } from '../../data/inbox/actions.ts'
import { useOutbox } from '../../data/inbox/outbox.ts'
import { pendingEntries } from '../../data/inbox/outbox-rules.ts'
import { useInbox, useThread } from '../../data/inbox/queries.ts'
import type { Conversation, TimelineItem } from '../../data/inbox/types.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useIsPageVisible } from '../parts/page-visibility.ts'
import { Blocks } from './Blocks.tsx'
import { blocksOf } from './blocks.ts'
import styles from './Thread.module.css'

export interface ThreadHandle {
  /** Scrolls to the newest item. */
  toNewest(): void
  /** Scrolls to a message, however far back, and focuses it. */
  toMessage(messageId: string): void
}

interface ThreadProps {
  ref?: Ref<ThreadHandle>
  conversation: Conversation
  /** False for a reader who reviews it: nobody has read it for the customer. */
  marksRead?: boolean
}

const nearPx = 80
const nothing: readonly TimelineItem[] = []
const dayOf = (at: string): string => new Date(at).toDateString()

/** Messages, notes and activities, from the newest or first unread one; older ones load on scrolling. */
export const Thread = memo(function Thread({ ref, conversation, marksRead = true }: ThreadProps) {
  const workspaceId = useWorkspaceId()
  const { id } = conversation
  const { query, older, newer, toEnd, toMessage: read } = useThread(workspaceId, id)
  const { data, isFetchedAfterMount } = query
  const items = data?.items ?? nothing
  const outbox = useOutbox(workspaceId, id)
  const unreadId = useFirstUnread(conversation, isFetchedAfterMount, data?.firstUnreadId ?? null, marksRead)
  const scroller = useRef<HTMLDivElement>(null)
  const scroll = useScroll(scroller, data?.items, unreadId, data?.newer != null)
  const toNewest = () => void toEnd().then(scroll.toEnd, showError)
  const show = useScrollToMessage(scroller, items)
  const toMessage = (messageId: string) => void read(messageId).then(() => show(messageId), showError)
  useImperativeHandle(ref, () => ({ toNewest, toMessage }))
  const top = useLoadOnScroll<HTMLDivElement>(older, scroller, items)
  const end = useLoadOnScroll<HTMLDivElement>(newer, scroller, items)
  const blocks = useMemo(
    () => blocksOf(items, pendingEntries(outbox, items, currentUser().id), unreadId, dayOf),
    [items, outbox, unreadId],
  )

  if (data === undefined && query.isError) {
    return (
      <div className={styles.scroller}>
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </div>
    )
  }
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
      <div ref={scroller} className={styles.scroller} onScroll={scroll.checkPosition} tabIndex={0}>
        <div className={styles.content} role="log" aria-label={t.inbox.messages} aria-busy={data === undefined}>
          {data === undefined && <div className={styles.skeletons} />}
          {data?.older != null && (
            <div ref={top} className={styles.edge} role="status">
              {t.inbox.older}
            </div>
          )}
          {data !== undefined && blocks.length === 0 && <p className={styles.line}>{t.inbox.emptyThread}</p>}
          <Blocks blocks={blocks} />
          {data?.newer != null && <div ref={end} className={styles.edge} />}
        </div>
      </div>
      {scroll.isAway && (
        <button type="button" className={styles.jump} data-news={scroll.hasNewMessages || undefined} onClick={toNewest}>
          {scroll.hasNewMessages ? t.inbox.newMessages : t.inbox.jumpToNewest}
        </button>
      )}
    </div>
  )
})

/**
 * Returns where unread messages started when the conversation was opened or became visible again, then marks them as
 * read. Conversations of an agent are not marked: the agent has yet to read them.
 */
function useFirstUnread(
  { id, unreadCount, owner }: Conversation,
  isFresh: boolean,
  firstUnreadId: string | null,
  marksRead: boolean,
): string | null {
  const inbox = useInbox()
  const [shown, setShown] = useState<string | null>(null)
  const isVisible = useIsPageVisible()
  const isSettled = useRef(false)
  if (!isVisible) isSettled.current = false
  useEffect(() => {
    if (!isFresh || !isVisible) return
    if (!isSettled.current && firstUnreadId !== null) setShown(firstUnreadId)
    isSettled.current = true
    if (marksRead && unreadCount > 0 && owner === 'human') void markRead(inbox, id)
  }, [inbox, id, isFresh, isVisible, firstUnreadId, unreadCount, owner, marksRead])
  return shown
}

/**
 * Returns the scroll position of the thread, which is laid out from its end, so that items added above do not move
 * others. At or near the end, it stays there when sizes change. Further up, it stays in place when items arrive below;
 * own messages are scrolled to.
 */
function useScroll(
  scroller: { current: HTMLDivElement | null },
  read: readonly TimelineItem[] | undefined,
  unreadId: string | null,
  hasNewer: boolean,
) {
  const isRead = read !== undefined
  const items = read ?? nothing
  const [isAway, setAway] = useState(false)
  const [hasNewMessages, setHasNewMessages] = useState(false)
  const before = useRef({ lastId: items.at(-1)?.id, height: 0, hasNewer })
  const isAtEnd = useRef(true)
  const unread = () => scroller.current?.querySelector('[data-unread-line]') ?? null
  const aboveBy = () => {
    const [line, frame] = [unread()?.getBoundingClientRect(), scroller.current?.getBoundingClientRect()]
    return line === undefined || frame === undefined ? 0 : frame.top + 12 - line.top
  }
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const last = items.at(-1)
    const growth = element.scrollHeight - before.current.height
    const { lastId: lastBefore, hasNewer: hadNewer } = before.current
    const isLonger = lastBefore !== undefined && last?.id !== lastBefore
    if (isLonger && (hadNewer || (!isAtEnd.current && !isMine(last)))) {
      element.scrollTop -= growth
      if (!hadNewer) setHasNewMessages(true)
    } else if (isLonger) element.scrollTop = 0
    before.current = { lastId: last?.id, height: element.scrollHeight, hasNewer }
  }, [scroller, items, hasNewer])
  // Late images, messages being sent, and the growing composer.
  useLayoutEffect(() => {
    const element = scroller.current
    const content = element?.firstElementChild
    if (!isRead || element === null || content == null) return
    const sizes = new ResizeObserver(() => {
      before.current.height = element.scrollHeight
      if (isAtEnd.current && !before.current.hasNewer) element.scrollTop = 0
    })
    for (const one of [element, content]) sizes.observe(one)
    return () => sizes.disconnect()
  }, [scroller, isRead])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the position is known
  useLayoutEffect(() => {
    if (unreadId === null || aboveBy() <= 0 || scroller.current === null) return
    isAtEnd.current = false
    scroller.current.scrollTop -= aboveBy()
  }, [unreadId])
  const checkPosition = () => {
    const element = scroller.current
    if (element === null) return
    const away = element.scrollTop < -nearPx
    isAtEnd.current = !away
    setAway(away)
    if (!away) setHasNewMessages(false)
  }
  const toEnd = () => {
    scroller.current?.scrollTo({ top: 0 })
    isAtEnd.current = true
    // A page that replaced the others is not appended below: the reader scrolls to it.
    before.current.hasNewer = false
  }
  return { isAway, hasNewMessages, checkPosition, toEnd }
}

const isMine = (item: TimelineItem | undefined): boolean =>
  (item?.activity ?? item?.handover)?.actor.id === currentUser().id

/** Scrolls to a message when it is rendered, and highlights it while it has the focus. */
function useScrollToMessage(scroller: { current: HTMLDivElement | null }, items: readonly TimelineItem[]) {
  const [requestedId, setRequestedId] = useState<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is rendered with the items
  useLayoutEffect(() => {
    const row = requestedId === null ? null : document.getElementById(`message-${requestedId}`)
    if (row === null || scroller.current === null) return
    setRequestedId(null)
    row.scrollIntoView({ block: 'center' })
    row.focus({ preventScroll: true })
    row.dataset.found = ''
    row.addEventListener('blur', () => delete row.dataset.found, { once: true })
  }, [requestedId, items, scroller])
  return setRequestedId
}

/** Calls back when the end of the list is near, and again while it is. */
function useLoadOnScroll<T extends Element>(
  call: () => Promise<void>,
  root: { current: Element | null },
  items: readonly TimelineItem[],
) {
  const here = useRef<T>(null)
  const latest = useRef(call)
  latest.current = call
  // biome-ignore lint/correctness/useExhaustiveDependencies: checked again after each page
  useEffect(() => {
    const element = here.current
    if (element === null) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) void latest.current().catch(() => {})
      },
      { root: root.current, rootMargin: '600px 0px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [items, root])
  return here
}
