import { useMemo, useRef } from 'react'
import { markRead, markUnread, patchConversation } from '../../data/inbox/actions.ts'
import type { Changes } from '../../data/inbox/calls.ts'
import { remindOfSilence } from '../../data/inbox/follow-ups.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { showError, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { opensNext } from '../../ui/stored-toggles.ts'
import { useInboxContext } from '../parts/inbox-context.ts'
import { isResolvedOrClosed } from '../parts/selection-rules.ts'

export interface ConversationActions {
  toggleDone(): void
  toggleUnread(): void
  snooze(until: Date | null): void
  /** Reminds the reader if the customer has not written in so many days. */
  remind(days: number): void
  setLabel(labelId: string, isOn: boolean): void
}

/** Returns actions on the open conversation. Optionally opens the next one after an action; undo returns. */
export function useConversationActions(conversation: Conversation): ConversationActions {
  const inbox = useInbox()
  const inInbox = useInboxContext()
  const latest = useRef({ conversation, inInbox })
  latest.current = { conversation, inInbox }
  return useMemo(() => {
    const finish = (changes: Changes, message: string) => {
      const advances = opensNext.isOn()
      const { conversation, inInbox } = latest.current
      const { id, status, snoozedUntil } = conversation
      const before = { status, ...(status === 'snoozed' && { snoozedUntil }) }
      const undo = () => {
        void patchConversation(inbox, id, before)
        if (advances) latest.current.inInbox.reopen(id)
      }
      // Before the conversation leaves the list, which determines the next one.
      if (advances) inInbox.openNext()
      void patchConversation(inbox, id, changes).then((isDone) => {
        if (isDone) showUndoToast(message, undo)
      })
    }
    return {
      toggleDone: () => {
        const { id, status } = latest.current.conversation
        if (isResolvedOrClosed(status)) void patchConversation(inbox, id, { status: 'open' })
        else finish({ status: 'resolved' }, t.inbox.actions.resolved)
      },
      // Leaves the conversation: while open, it would be marked as read at once.
      toggleUnread: () => {
        const { id, unreadCount } = latest.current.conversation
        if (unreadCount > 0) return void markRead(inbox, id)
        latest.current.inInbox.close()
        void markUnread(inbox, id)
      },
      snooze: (until) =>
        finish({ status: 'snoozed', snoozedUntil: until?.toISOString() ?? null }, t.inbox.actions.snoozed),
      remind: (days) => void remindOfSilence(inbox, latest.current.conversation.id, days).catch(showError),
      setLabel: (labelId, isOn) => {
        const { id, labelIds } = latest.current.conversation
        const others = labelIds.filter((one) => one !== labelId)
        void patchConversation(inbox, id, { labelIds: isOn ? [...others, labelId] : others })
      },
    }
  }, [inbox])
}
