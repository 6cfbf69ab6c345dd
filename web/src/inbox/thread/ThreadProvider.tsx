import { type ReactNode, Suspense, useMemo, useRef, useState } from 'react'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { ThreadContext, type ThreadContextValue } from '../parts/thread-context.ts'

const Viewer = prefetchedComponent(() => import('../media/Viewer.tsx'))

interface ThreadProviderProps extends Omit<ThreadContextValue, 'openFile'> {
  children: ReactNode
}

/** Gives the parts of messages what they need, and shows their files in the viewer. */
export function ThreadProvider({ conversationId, customerName, showMessage, children }: ThreadProviderProps) {
  const [openFile, setOpenFile] = useState<string | null>(null)
  const show = useRef(showMessage)
  show.current = showMessage
  const value = useMemo<ThreadContextValue>(
    () => ({ conversationId, customerName, showMessage: (id) => show.current(id), openFile: setOpenFile }),
    [conversationId, customerName],
  )
  return (
    <ThreadContext value={value}>
      {children}
      {openFile !== null && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <Viewer messageId={openFile} close={() => setOpenFile(null)} />
        </Suspense>
      )}
    </ThreadContext>
  )
}
