import { ActionIcon } from '@mantine/core'
import { IconMessagePlus } from '@tabler/icons-react'
import { Suspense, useMemo } from 'react'
import { useWorkspace } from '../../data/workspace.ts'
import { t, withTexts } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { type Shortcut, useShortcuts } from '../../ui/shortcuts.ts'
import { useCreate } from '../../ui/use-create.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

const NewConversation = prefetchedComponent(() => withTexts(() => import('./NewConversation.tsx')))

const noKeys: readonly Shortcut[] = []

/** Starts a conversation, also by `C` and the command palette. Hidden from people who may not send. */
export function StartButton({ open }: { open(conversationId: string): void }) {
  const { data: workspace } = useWorkspace(useWorkspaceId())
  const maySend = workspace === undefined || (workspace.inboxEnabled && workspace.inboxAvailable)
  const [isStarting, setStarting] = useCreate()
  const keys = useMemo(() => [{ keys: 'c', label: t.inbox.start, run: () => setStarting(true) }], [setStarting])
  useShortcuts(t.inbox.title, maySend ? keys : noKeys)
  if (!maySend) return null
  return (
    <>
      <Tip label={`${t.inbox.start} (C)`}>
        <ActionIcon variant="subtle" color="gray" aria-label={t.inbox.start} onClick={() => setStarting(true)}>
          <IconMessagePlus size={18} stroke={1.6} />
        </ActionIcon>
      </Tip>
      {isStarting && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <NewConversation open={open} close={() => setStarting(false)} />
        </Suspense>
      )}
    </>
  )
}
