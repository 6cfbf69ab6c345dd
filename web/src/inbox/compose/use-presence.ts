import { useCallback, useEffect, useRef } from 'react'
import { sayPresence } from '../actions.ts'
import { useInbox } from '../queries.ts'

// The service believes it for twenty seconds.
const sayAgainMs = 10_000
const stopsTypingMs = 5000

/** Tells colleagues that I have a conversation open, and with the answer's function that I am writing. */
export function usePresence(id: string): () => void {
  const inbox = useInbox()
  const said = useRef<'viewing' | 'typing'>('viewing')
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined)

  const tell = useCallback(
    (state: 'viewing' | 'typing') => {
      said.current = state
      void sayPresence(inbox, id, state)
    },
    [inbox, id],
  )

  useEffect(() => {
    const here = () => {
      if (document.visibilityState === 'visible') tell(said.current)
      else void sayPresence(inbox, id, 'gone')
    }
    here()
    const again = setInterval(() => document.visibilityState === 'visible' && tell(said.current), sayAgainMs)
    document.addEventListener('visibilitychange', here)
    return () => {
      clearInterval(again)
      clearTimeout(rest.current)
      document.removeEventListener('visibilitychange', here)
      void sayPresence(inbox, id, 'gone')
    }
  }, [inbox, id, tell])

  return useCallback(() => {
    clearTimeout(rest.current)
    rest.current = setTimeout(() => tell('viewing'), stopsTypingMs)
    if (said.current !== 'typing') tell('typing')
  }, [tell])
}
