import { ActionIcon } from '@mantine/core'
import { IconPlayerTrackNext } from '@tabler/icons-react'
import { useMemo, useRef } from 'react'
import { cacheConversation } from '../../data/inbox/cache.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { takeNext } from '../../data/team/routing.ts'
import { t } from '../../text/index.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'

/** Assigns me the customer who has waited the longest and opens the conversation, also by `Q`. */
export function TakeNextButton({ open }: { open(conversationId: string): void }) {
  const inbox = useInbox()
  const isBusy = useRef(false)
  const openLatest = useRef(open)
  openLatest.current = open
  const take = useMemo(
    () => async () => {
      // A second click before the answer would take another one.
      if (isBusy.current) return
      isBusy.current = true
      try {
        const conversation = await takeNext(inbox.workspaceId)
        if (conversation === null) return showToast(t.inbox.nobodyWaits)
        cacheConversation(inbox, conversation)
        openLatest.current(conversation.id)
      } catch (error) {
        showError(error)
      } finally {
        isBusy.current = false
      }
    },
    [inbox],
  )
  useShortcuts(
    t.inbox.title,
    useMemo(() => [{ keys: 'q', label: t.inbox.takeNext, run: () => void take() }], [take]),
  )
  return (
    <Tip label={`${t.inbox.takeNext} (Q)`}>
      <ActionIcon variant="subtle" color="gray" aria-label={t.inbox.takeNext} onClick={() => void take()}>
        <IconPlayerTrackNext size={18} stroke={1.6} />
      </ActionIcon>
    </Tip>
  )
}
