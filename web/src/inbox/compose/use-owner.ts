import { notifyManager } from '@tanstack/react-query'
import { useCallback } from 'react'
import { takeOver } from '../../data/inbox/actions.ts'
import { useCachedThread, useInbox } from '../../data/inbox/queries.ts'
import type { TimelineItem } from '../../data/inbox/types.ts'
import { requestFocus, setTakingOver } from './drafts.ts'

/** Takes a conversation over and focuses the field. */
export function useTakeOver(id: string): () => void {
  const inbox = useInbox()
  return useCallback(() => {
    const { workspaceId } = inbox
    requestFocus(id)
    setTakingOver(workspaceId, id, true)
    // After the event with the new owner: otherwise it would briefly be the agent's again, and the field with the typed
    // text would disappear.
    const finish = () => notifyManager.schedule(() => setTakingOver(workspaceId, id, false))
    void takeOver(inbox, id).finally(finish)
  }, [inbox, id])
}

const recent = 5

/** Returns the agent that is sending a message now; null if none is. */
export function useSendingAgent(workspaceId: string, id: string): string | null {
  return sendingAgent(useCachedThread(workspaceId, id)?.items ?? [])
}

export function sendingAgent(items: readonly TimelineItem[]): string | null {
  const on = items
    .slice(-recent)
    .find(({ message }) => message?.status === 'pending' && message.author.type === 'agent')
  return on?.message?.author.name ?? null
}
