import { createContext, useContext } from 'react'

/** Context of the thread for parts of its messages. */
export interface ThreadContextValue {
  conversationId: string
  customerName: string
  /** Scrolls to a message, however far back. */
  showMessage(messageId: string): void
  /** Opens the file of a message in the viewer. */
  openFile(messageId: string): void
}

export const ThreadContext = createContext<ThreadContextValue | null>(null)

export function useThreadContext(): ThreadContextValue {
  const thread = useContext(ThreadContext)
  if (thread === null) throw new Error('There is no thread around it.')
  return thread
}
