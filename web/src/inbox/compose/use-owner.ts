import { notifyManager } from '@tanstack/react-query'
import { useCallback } from 'react'
import { takeOver } from '../../data/inbox/actions.ts'
import { useCachedThread, useInbox } from '../../data/inbox/queries.ts'
import type { TimelineItem } from '../../data/inbox/types.ts'
import { requestFocus, setTakingOver } from './drafts.ts'

/** Takes a conversation over, and puts the caret where one writes. */
export function useTakeOver(id: string): () => void {
  const inbox = useInbox()
  return useCallback(() => {
    const { workspaceId } = inbox
    requestFocus(id)
    setTakingOver(workspaceId, id, true)
    // After the news of the new owner: for a moment it would be the agent's again, and the field would go with what is
    // being typed.
    const taken = () => notifyManager.schedule(() => setTakingOver(workspaceId, id, false))
    void takeOver(inbox, id).finally(taken)
  }, [inbox, id])
}

const recent = 5

/** The agent whose message is on its way to the platform right now; null when there is none. */
export function useSendingAgent(workspaceId: string, id: string): string | null {
  return sendingAgent(useCachedThread(workspaceId, id)?.items ?? [])
}

export function sendingAgent(items: readonly TimelineItem[]): string | null {
  const on = items
    .slice(-recent)
    .find(({ message }) => message?.status === 'pending' && message.author.type === 'agent')
  return on?.message?.author.name ?? null
}
