import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { followWorkspace, useIsLiveReady, useLiveReset, useLiveState, useOnReconnect } from '../api/live.ts'
import { restartQueries } from '../api/refetch.ts'
import { useLiveWorkspace } from '../data/workspace-updates.ts'
import { useIsPlayerOpen } from '../inbox/media/is-player-open.ts'
import { saveLastWorkspace } from '../session/last-workspace.ts'
import { hasRole } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { retryFailedLoads } from '../ui/overlay/code-loader.ts'
import { useDropdown } from '../ui/overlay/dropdown.tsx'
import { afterPaint, lazyComponent, markPageReady, prefetchedComponent, useIsPageReady } from '../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../ui/overlay/shortcuts-blocked.ts'
import { useRailBadge } from '../ui/rail-badges.ts'
import { SkipLink } from '../ui/SkipLink.tsx'
import { keySequence, useShortcuts } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Frame.module.css'
import { navItems } from './nav-items.ts'
import offlineLineStyles from './OfflineLine.module.css'
import { Rail } from './Rail.tsx'

export const InboxLive = lazyComponent(async () => ({ default: (await import('../inbox/InboxPage.tsx')).InboxLive }))
const Palette = prefetchedComponent(() => withTexts(() => import('./Palette.tsx')))
const PlayerBar = prefetchedComponent(() => withTexts(() => import('../inbox/media/PlayerBar.tsx'), ['conversation']))
const RailBadges = lazyComponent(() => withTexts(() => import('./RailBadges.tsx')))
const NotificationListener = lazyComponent(() => withTexts(() => import('../notifications/NotificationListener.tsx')))
const ShortcutSheet = prefetchedComponent(() => withTexts(() => import('./ShortcutSheet.tsx')))

/** Stays while pages change: the navigation rail, the live stream, the command palette, global shortcuts. */
export function Frame() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  const close = useCallback(() => setOpen(null), [])
  const [isBellOpen, setBellOpen] = useState(false)
  const bell = useDropdown(isBellOpen, setBellOpen)
  const isPlayerOpen = useIsPlayerOpen()
  const isFollowed = useIsLiveReady()

  useEffect(() => {
    saveLastWorkspace(workspaceId)
    return followWorkspace(workspaceId)
  }, [workspaceId])
  useLiveReset(useCallback(() => void restartQueries(queries, []), [queries]))
  // Retries loads that failed while offline; loaded data is kept fresh by the stream.
  useOnReconnect(() => {
    retryFailedLoads()
    void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  })
  useFrameKeys(workspaceId, setOpen, setBellOpen)
  useTitle()
  const isPageReady = useIsPageReady()
  // Other pages do not need the data of the inbox until they are drawn.
  const isInbox = useLocation({ select: ({ pathname }) => pathname.split('/')[3] === 'inbox' })
  useEffect(() => afterFirstLoad(queries, markPageReady), [queries])

  return (
    <div className={styles.frame}>
      <SkipLink to="page">{t.common.skipToPage}</SkipLink>
      <Rail bell={bell} openPalette={() => setOpen('palette')} openKeys={() => setOpen('keys')} />
      <main id="page" tabIndex={-1} className={styles.page} key={workspaceId}>
        <WorkspaceLive />
        {(isPageReady || isInbox) && (
          <Suspense>
            <InboxLive />
          </Suspense>
        )}
        <OfflineLine />
        {isPlayerOpen && (
          <Suspense>
            <PlayerBar />
          </Suspense>
        )}
        <Outlet />
      </main>
      {isFollowed && isPageReady && (
        <Suspense>
          <RailBadges />
          <NotificationListener />
        </Suspense>
      )}
      <Suspense fallback={<ShortcutsBlocked />}>
        {open === 'palette' && <Palette close={close} showKeys={() => setOpen('keys')} />}
        {open === 'keys' && <ShortcutSheet close={close} />}
      </Suspense>
    </div>
  )
}

/** Mounted before the page, so that its queries know whether the stream is open. */
function WorkspaceLive() {
  useLiveWorkspace(useWorkspaceId())
  return null
}

// Slower loads are not waited for.
const maxWaitMs = 10_000

/** Calls `done` when the first requests of the page have completed, so that other requests do not delay them. */
function afterFirstLoad(queries: QueryClient, done: () => void): () => void {
  const finishWhenIdle = () => {
    if (queries.isFetching() === 0) finish()
  }
  const finish = () => {
    stop()
    afterPaint(done)
  }
  const stop = () => {
    clearTimeout(timer)
    unsubscribe()
  }
  const timer = setTimeout(finish, maxWaitMs)
  const unsubscribe = queries.getQueryCache().subscribe(finishWhenIdle)
  finishWhenIdle()
  return stop
}

function useFrameKeys(
  workspaceId: string,
  setOpen: (what: 'palette' | 'keys') => void,
  setBellOpen: (isOpen: boolean) => void,
): void {
  const navigate = useNavigate()
  const keys = useMemo(() => {
    const { keys: texts } = t.common
    const open = navItems.filter(({ role }) => hasRole(workspaceId, role))
    return [
      { keys: 'mod+k', label: texts.palette, run: () => setOpen('palette'), inFields: true },
      { keys: '?', label: texts.open, run: () => setOpen('keys') },
      {
        keys: keySequence('g', 'n'),
        label: texts.goTo({ page: t.common.notifications }),
        run: () => setBellOpen(true),
      },
      ...open.map(({ path, key, title }) => ({
        keys: keySequence('g', key),
        label: texts.goTo({ page: title() }),
        run: () => void navigate({ to: `/w/${workspaceId}/${path}` }),
      })),
    ]
  }, [workspaceId, navigate, setOpen, setBellOpen])
  useShortcuts(t.common.keys.everywhere, keys)
}

/** Banner on top while the stream is broken: what is shown may be old, and messages wait to be sent. */
function OfflineLine() {
  const isLost = useLiveState() === 'lost'
  return (
    <div className={offlineLineStyles.line} role="status" aria-live="polite" data-lost={isLost || undefined}>
      {isLost && t.common.live.lost}
    </div>
  )
}

/** Shows the page and the number of unread conversations in the title of the tab. */
function useTitle(): void {
  const unread = useRailBadge('inbox')
  const path = useLocation({ select: ({ pathname }) => pathname.split('/')[3] })
  useEffect(() => {
    const page = navItems.find((one) => one.path === path)
    const place = page === undefined ? t.common.product : `${page.title()} · ${t.common.product}`
    document.title = unread === null ? place : `(${unread.count}) ${place}`
  }, [unread, path])
}
