import { useCallback } from 'react'
import { takeOver } from '../actions.ts'
import { useInbox } from '../queries.ts'
import { askFocus, setTaking } from './store.ts'

/** Takes a conversation over, and puts the caret where one writes. */
export function useTakeOver(id: string): () => void {
  const inbox = useInbox()
  return useCallback(() => {
    const { workspaceId } = inbox
    askFocus(id)
    setTaking(workspaceId, id, true)
    void takeOver(inbox, id).finally(() => setTaking(workspaceId, id, false))
  }, [inbox, id])
}
