import { notifyManager } from '@tanstack/react-query'
import { useCallback } from 'react'
import { takeOver } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { askFocus, setTaking } from './store.ts'

/** Takes a conversation over, and puts the caret where one writes. */
export function useTakeOver(id: string): () => void {
  const inbox = useInbox()
  return useCallback(() => {
    const { workspaceId } = inbox
    askFocus(id)
    setTaking(workspaceId, id, true)
    // Behind the news of the new owner: for a moment it would be the agent's again, and the field would go with what is
    // being typed.
    const taken = () => notifyManager.schedule(() => setTaking(workspaceId, id, false))
    void takeOver(inbox, id).finally(taken)
  }, [inbox, id])
}
