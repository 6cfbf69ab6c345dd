import { useCallback, useEffect, useRef } from 'react'
import { sayPresence } from '../actions.ts'
import { useInbox } from '../queries.ts'

// The thread says every ten seconds that somebody looks at it; who writes says so oftener.
const sayAgainMs = 3000
const restMs = 5000

/** Tells colleagues that I am writing; to be called at each letter. */
export function useTyping(id: string): () => void {
  const inbox = useInbox()
  const saidAtMs = useRef(0)
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(rest.current), [])
  return useCallback(() => {
    clearTimeout(rest.current)
    rest.current = setTimeout(() => {
      saidAtMs.current = 0
      void sayPresence(inbox, id, 'viewing')
    }, restMs)
    if (Date.now() - saidAtMs.current < sayAgainMs) return
    saidAtMs.current = Date.now()
    void sayPresence(inbox, id, 'typing')
  }, [inbox, id])
}
