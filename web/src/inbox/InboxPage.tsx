import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useLiveInbox } from '../data/inbox/live.ts'
import { rowsOf, useCounts, useInbox } from '../data/inbox/queries.ts'
import { t, withTexts } from '../text/index.ts'
import { retryFailedLoads } from '../ui/overlay/code-loader.ts'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { setRailBadge } from '../ui/rail-badges.ts'
import { ShortcutsQueued, useFlushBeforeShortcut, useShortcuts } from '../ui/shortcuts.ts'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import visuallyHidden from '../ui/visually-hidden.module.css'
import styles from './InboxPage.module.css'
import { filterOf, type InboxSearch, readSearch } from './list/filters.ts'
import { ListPane } from './list/ListPane.tsx'
import { InboxContext, type InboxContextValue } from './parts/inbox-context.ts'
import { adjacentId, clearSelection, useIsSelecting } from './parts/selection.ts'

// The list is visible first.
const ThreadPane = prefetchedComponent(
  () => withTexts(async () => ({ default: (await import('./ThreadPane.tsx')).ThreadPane }), ['conversation']),
  ({ error }) => <ErrorState error={error} retry={retryFailedLoads} />,
)

/** Three panes: list, thread and customer. Phones show one at a time. */
export function InboxPage() {
  const workspaceId = useWorkspaceId()
  const conversationId = useOpenId(workspaceId)
  const search: InboxSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const [showsCustomer, setShowsCustomer] = useState(false)
  const isChoosing = useIsSelecting()
  const open = useCallback(
    (id: string | undefined, messageId?: string) =>
      void navigate({
        to: '/w/$workspaceId/inbox/{-$conversationId}',
        params: { workspaceId, conversationId: id },
        search: true,
        ...(messageId !== undefined && { hash: messageId }),
      }),
    [navigate, workspaceId],
  )
  const close = useCallback(() => {
    setShowsCustomer(false)
    open(undefined)
  }, [open])
  const filterBy = useChangeSearch(readSearch)
  const inInbox = useInboxContextValue(conversationId, search, open, close)
  useShortcuts(
    t.inbox.title,
    useMemo(() => {
      const back = () => (showsCustomer ? setShowsCustomer(false) : close())
      if (isChoosing) return [{ keys: 'Escape', label: t.inbox.bulk.clear, run: clearSelection }]
      return conversationId === undefined ? [] : [{ keys: 'Escape', label: t.common.keys.back, run: back }]
    }, [conversationId, showsCustomer, close, isChoosing]),
  )
  return (
    <InboxContext value={inInbox}>
      {/* Hidden heading: the list, whose title is visible, is not always shown. */}
      <h1 className={visuallyHidden.hidden}>{t.inbox.title}</h1>
      <div className={styles.panes} data-open={conversationId === undefined ? undefined : true}>
        <ListPane search={search} filterBy={filterBy} openId={conversationId} />
        {conversationId === undefined ? (
          <p className={styles.nothing}>{t.inbox.selectConversation}</p>
        ) : (
          <Suspense fallback={<ShortcutsQueued />}>
            <ThreadPane
              key={conversationId}
              id={conversationId}
              showsCustomer={showsCustomer}
              setShowsCustomer={setShowsCustomer}
            />
          </Suspense>
        )}
      </div>
    </InboxContext>
  )
}

/** Keeps the inbox and its badge in the rail fresh on every page. */
export function InboxLive() {
  const workspaceId = useWorkspaceId()
  useLiveInbox(workspaceId)
  const { data: counts } = useCounts(workspaceId)
  const unread = counts === undefined ? 0 : counts.mine.unread + counts.unassigned.unread
  useEffect(() => {
    setRailBadge('inbox', { count: unread, tone: 'accent', label: t.inbox.unreadBadge({ n: unread }) })
  }, [unread])
  return null
}

function useInboxContextValue(
  openId: string | undefined,
  search: InboxSearch,
  open: InboxContextValue['open'],
  close: () => void,
): InboxContextValue {
  const inbox = useInbox()
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  const override = useRef<(() => void) | null>(null)
  const overrideNext = useCallback((openOther: () => void) => {
    override.current = openOther
    return () => {
      override.current = null
    }
  }, [])
  return useMemo(
    () => ({
      open,
      close,
      overrideNext,
      openNext: () => {
        if (override.current !== null) return override.current()
        const next = openId === undefined ? undefined : adjacentId(rowsOf(inbox, filterOf(search)), openId)
        if (next === null) close()
        else if (next !== undefined) open(next)
      },
      reopen: (id) => {
        if (isHere.current) open(id)
      },
    }),
    [inbox, openId, search, open, close, overrideNext],
  )
}

/**
 * Returns the open conversation. The router renders a new address with a delay, longer under load, which skips
 * conversations that are passed quickly by keyboard. Shortcuts that act on the open conversation render it at once.
 */
function useOpenId(workspaceId: string): string | undefined {
  const { history } = useRouter()
  const { conversationId: drawn } = useParams({ strict: false })
  // Ahead of the router until it has rendered the address.
  const [ahead, setAhead] = useState<{ id: string | undefined } | null>(null)
  const openId = ahead === null ? drawn : ahead.id
  const addressed = useCallback(
    () => conversationAt(history.location.pathname, workspaceId, openId),
    [history, workspaceId, openId],
  )
  useEffect(() => {
    if (ahead === null) return
    if (ahead.id === drawn) return setAhead(null)
    return history.subscribe(() => setAhead({ id: addressed() }))
  }, [ahead, drawn, history, addressed])
  useFlushBeforeShortcut(
    useCallback(() => {
      const id = addressed()
      if (id !== openId) flushSync(() => setAhead({ id }))
    }, [addressed, openId]),
  )
  return openId
}

/** Keeps the open conversation while an address outside the inbox has not been rendered yet. */
function conversationAt(pathname: string, workspaceId: string, openId: string | undefined): string | undefined {
  const [, , workspace, page, id = ''] = pathname.split('/')
  if (workspace !== workspaceId || page !== 'inbox') return openId
  return id === '' ? undefined : id
}
