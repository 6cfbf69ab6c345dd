import { createContext, useContext } from 'react'

/** What a part of a message may ask of the thread that it stands in. */
export interface ThreadContextValue {
  conversationId: string
  customerName: string
  /** Leads to a message, however far back it is. */
  showMessage(messageId: string): void
  /** Shows the file of a message larger. */
  openFile(messageId: string): void
}

export const ThreadContext = createContext<ThreadContextValue | null>(null)

export function useThreadContext(): ThreadContextValue {
  const thread = useContext(ThreadContext)
  if (thread === null) throw new Error('There is no thread around it.')
  return thread
}
