import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { followWorkspace, useBackOnline, useIsFollowed, useLiveReset, useLiveState } from '../api/live.ts'
import { readAnew } from '../api/read-again.ts'
import { useWorkspaceNews } from '../data/workspace-news.ts'
import { useIsPlayerOpen } from '../inbox/media/player-open.ts'
import { keepLastWorkspace } from '../session/last-workspace.ts'
import { mayIn } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { keySequence, useKeys } from '../ui/keys.ts'
import { tryCodeAgain } from '../ui/overlay/code.ts'
import { useDrop } from '../ui/overlay/drop.tsx'
import { KeysHeld } from '../ui/overlay/keys-held.ts'
import { afterDrawing, later, pageStands, useStanding, whenWanted } from '../ui/overlay/later.ts'
import { useRailBadge } from '../ui/rail-badges.ts'
import { SkipLink } from '../ui/SkipLink.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Frame.module.css'
import offlineLineStyles from './OfflineLine.module.css'
import { Rail } from './Rail.tsx'
import { rooms } from './rooms.ts'

export const InboxLive = whenWanted(async () => ({ default: (await import('../inbox/InboxPage.tsx')).InboxLive }))
const Palette = later(() => withTexts(() => import('./Palette.tsx')))
const PlayerBar = later(() => withTexts(() => import('../inbox/media/PlayerBar.tsx'), ['talk']))
const RailBadges = whenWanted(() => withTexts(() => import('./RailBadges.tsx')))
const Told = whenWanted(() => withTexts(() => import('../told/Told.tsx')))
const ShortcutSheet = later(() => withTexts(() => import('./ShortcutSheet.tsx')))

/** What stays while pages change: the rail, the live stream, the palette and the keys that work everywhere. */
export function Frame() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  const close = useCallback(() => setOpen(null), [])
  const [isBellOpen, setBellOpen] = useState(false)
  const bell = useDrop(isBellOpen, setBellOpen)
  const isPlayerOpen = useIsPlayerOpen()
  const isFollowed = useIsFollowed()

  useEffect(() => {
    keepLastWorkspace(workspaceId)
    return followWorkspace(workspaceId)
  }, [workspaceId])
  useLiveReset(useCallback(() => void readAnew(queries, []), [queries]))
  // What could not be had while nobody was there; what was had is kept fresh by the stream.
  useBackOnline(() => {
    tryCodeAgain()
    void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  })
  useFrameKeys(workspaceId, setOpen, setBellOpen)
  useTitle()
  const isStanding = useStanding()
  // Other rooms have no use for what it knows until they stand.
  const isInbox = useLocation({ select: ({ pathname }) => pathname.split('/')[3] === 'inbox' })
  useEffect(() => onceRead(queries, pageStands), [queries])

  return (
    <div className={styles.frame}>
      <SkipLink to="page">{t.common.skipToPage}</SkipLink>
      <Rail bell={bell} openPalette={() => setOpen('palette')} openKeys={() => setOpen('keys')} />
      <main id="page" tabIndex={-1} className={styles.page} key={workspaceId}>
        <WorkspaceLive />
        {(isStanding || isInbox) && (
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
      {isFollowed && isStanding && (
        <Suspense>
          <RailBadges />
          <Told />
        </Suspense>
      )}
      <Suspense fallback={<KeysHeld />}>
        {open === 'palette' && <Palette close={close} showKeys={() => setOpen('keys')} />}
        {open === 'keys' && <ShortcutSheet close={close} />}
      </Suspense>
    </div>
  )
}

/** Before what the page reads, which is read again once the stream is open. */
function WorkspaceLive() {
  useWorkspaceNews(useWorkspaceId())
  return null
}

// What loads for longer than this is waited for by nobody.
const patienceMs = 10_000

/** Calls `done` once all that the page asked for first is there: what else is fetched would keep it. */
function onceRead(queries: QueryClient, done: () => void): () => void {
  const look = () => {
    if (queries.isFetching() === 0) finish()
  }
  const finish = () => {
    stop()
    afterDrawing(done)
  }
  const stop = () => {
    clearTimeout(timer)
    unsubscribe()
  }
  const timer = setTimeout(finish, patienceMs)
  const unsubscribe = queries.getQueryCache().subscribe(look)
  look()
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
    const open = rooms.filter(({ role }) => mayIn(workspaceId, role))
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
  useKeys(t.common.keys.everywhere, keys)
}

/** A thin line on top while the stream is broken: what is shown may be old, and what is sent waits. */
function OfflineLine() {
  const isLost = useLiveState() === 'lost'
  return (
    <div className={offlineLineStyles.line} role="status" aria-live="polite" data-lost={isLost || undefined}>
      {isLost && t.common.live.lost}
    </div>
  )
}

/** The tab tells where one is, and how much in the inbox is unread. */
function useTitle(): void {
  const unread = useRailBadge('inbox')
  const path = useLocation({ select: ({ pathname }) => pathname.split('/')[3] })
  useEffect(() => {
    const room = rooms.find((one) => one.path === path)
    const place = room === undefined ? t.common.product : `${room.title()} · ${t.common.product}`
    document.title = unread === null ? place : `(${unread.count}) ${place}`
  }, [unread, path])
}
