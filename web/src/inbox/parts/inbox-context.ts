import { createContext, useContext } from 'react'

/** What the parts of the inbox may ask of its page. */
export interface InboxContextValue {
  /** Back to the list alone. */
  close(): void
  /** From the open conversation on to the next of the list. */
  openNext(): void
  /** Has another way lead on than that of the list, until what it returns is called. */
  overrideNext(way: () => void): () => void
  /** Shows a conversation again that was left, as long as the inbox is there. */
  reopen(id: string): void
}

export const InboxContext = createContext<InboxContextValue | null>(null)

export function useInboxContext(): InboxContextValue {
  const inbox = useContext(InboxContext)
  if (inbox === null) throw new Error('There is no inbox around it.')
  return inbox
}
