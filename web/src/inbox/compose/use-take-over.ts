import { useCallback } from 'react'
import { takeOver } from '../actions.ts'
import { useInbox } from '../queries.ts'
import { askFocus } from './store.ts'

/** Takes a conversation over, and puts the caret where one writes. */
export function useTakeOver(id: string): () => void {
  const inbox = useInbox()
  return useCallback(() => {
    askFocus(id)
    void takeOver(inbox, id)
  }, [inbox, id])
}
