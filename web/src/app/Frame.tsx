import { useQueryClient } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { followWorkspace, useLiveReset, useLiveState } from '../api/live.ts'
import { readAnew } from '../api/read-again.ts'
import { InboxLive } from '../inbox/InboxLive.tsx'
import { useIsPlayerOpen } from '../inbox/media/player.ts'
import { keepLastWorkspace } from '../session/last-workspace.ts'
import { mayIn } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { keySequence, useKeys } from '../ui/keys.ts'
import { useDrop } from '../ui/overlay/drop.tsx'
import { later, pageStands } from '../ui/overlay/later.ts'
import { useRailBadge } from '../ui/rail-badges.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Frame.module.css'
import offlineLineStyles from './OfflineLine.module.css'
import { Rail } from './Rail.tsx'
import { rooms } from './rooms.ts'

const Palette = later(() => withTexts(() => import('./Palette.tsx')))
const PlayerBar = later(() => import('../inbox/media/PlayerBar.tsx'))
const RailBadges = lazy(() => withTexts(() => import('./RailBadges.tsx')))
const Told = lazy(() => withTexts(() => import('../told/Told.tsx')))
const ShortcutSheet = later(() => import('./ShortcutSheet.tsx'))

/** What stays while pages change: the rail, the live stream, the palette and the keys that work everywhere. */
export function Frame() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  const close = useCallback(() => setOpen(null), [])
  const [isBellOpen, setBellOpen] = useState(false)
  const bell = useDrop(isBellOpen, setBellOpen)
  const isPlayerOpen = useIsPlayerOpen()

  useEffect(() => {
    keepLastWorkspace(workspaceId)
    return followWorkspace(workspaceId)
  }, [workspaceId])
  useLiveReset(useCallback(() => void readAnew(queries, []), [queries]))
  useFrameKeys(workspaceId, setOpen, setBellOpen)
  useTitle()
  useEffect(pageStands, [])

  return (
    <div className={styles.frame}>
      <Rail bell={bell} openPalette={() => setOpen('palette')} openKeys={() => setOpen('keys')} />
      <main className={styles.page} key={workspaceId}>
        <InboxLive />
        <OfflineLine />
        {isPlayerOpen && (
          <Suspense>
            <PlayerBar />
          </Suspense>
        )}
        <Outlet />
      </main>
      <Suspense>
        <RailBadges />
        <Told />
        {open === 'palette' && <Palette close={close} showKeys={() => setOpen('keys')} />}
        {open === 'keys' && <ShortcutSheet close={close} />}
      </Suspense>
    </div>
  )
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
      { keys: keySequence('g', 'n'), label: texts.goTo(t.common.notifications), run: () => setBellOpen(true) },
      ...open.map(({ path, key, title }) => ({
        keys: keySequence('g', key),
        label: texts.goTo(title()),
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
