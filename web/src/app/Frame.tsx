import { useQueryClient } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { followWorkspace, useLiveReset } from '../api/live.ts'
import { readAgain } from '../api/read-again.ts'
import { InboxLive } from '../inbox/InboxLive.tsx'
import { keepLastWorkspace } from '../session/last-workspace.ts'
import { mayIn } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { keySequence, useKeys } from '../ui/keys.ts'
import { later, pageStands } from '../ui/overlay/later.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Frame.module.css'
import { OfflineLine } from './OfflineLine.tsx'
import { Rail } from './Rail.tsx'
import { rooms } from './rooms.ts'
import { useTitle } from './use-title.ts'

const Palette = later(() => withTexts(() => import('./Palette.tsx')))
const RailBadges = lazy(() => withTexts(() => import('./RailBadges.tsx')))
const ShortcutSheet = later(() => import('./ShortcutSheet.tsx'))

/** What stays while pages change: the rail, the live stream, the palette and the keys that work everywhere. */
export function Frame() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  const close = useCallback(() => setOpen(null), [])

  useEffect(() => {
    keepLastWorkspace(workspaceId)
    return followWorkspace(workspaceId)
  }, [workspaceId])
  useLiveReset(useCallback(() => void readAgain(queries, []), [queries]))
  useFrameKeys(workspaceId, setOpen)
  useTitle()
  useEffect(pageStands, [])

  return (
    <div className={styles.frame}>
      <Rail workspaceId={workspaceId} openPalette={() => setOpen('palette')} openKeys={() => setOpen('keys')} />
      <main className={styles.page} key={workspaceId}>
        <InboxLive workspaceId={workspaceId} />
        <OfflineLine />
        <Outlet />
      </main>
      <Suspense>
        <RailBadges workspaceId={workspaceId} />
        {open === 'palette' && <Palette workspaceId={workspaceId} close={close} showKeys={() => setOpen('keys')} />}
        {open === 'keys' && <ShortcutSheet close={close} />}
      </Suspense>
    </div>
  )
}

function useFrameKeys(workspaceId: string, setOpen: (what: 'palette' | 'keys') => void): void {
  const navigate = useNavigate()
  const keys = useMemo(() => {
    const { keys: texts } = t.common
    const open = rooms.filter(({ role }) => mayIn(workspaceId, role))
    return [
      { keys: 'mod+k', label: texts.palette, run: () => setOpen('palette'), inFields: true },
      { keys: '?', label: texts.open, run: () => setOpen('keys') },
      ...open.map(({ path, key, title }) => ({
        keys: keySequence('g', key),
        label: texts.goTo(title()),
        run: () => void navigate({ to: `/w/${workspaceId}/${path}` }),
      })),
    ]
  }, [workspaceId, navigate, setOpen])
  useKeys(t.common.keys.everywhere, keys)
}
