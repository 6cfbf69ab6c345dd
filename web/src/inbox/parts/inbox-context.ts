import { createContext, useContext } from 'react'

/** Actions that parts of the inbox can call. */
export interface InboxContextValue {
  /** Opens a conversation, at a message if one is given. Stays the same. */
  open(id: string, messageId?: string): void
  /** Goes back to the list. */
  close(): void
  /** Opens the next conversation of the list. */
  openNext(): void
  /** Replaces `openNext`, until the returned function is called. */
  overrideNext(open: () => void): () => void
  /** Opens a conversation again, while the inbox is mounted. */
  reopen(id: string): void
}

export const InboxContext = createContext<InboxContextValue | null>(null)

export function useInboxContext(): InboxContextValue {
  const inbox = useContext(InboxContext)
  if (inbox === null) throw new Error('There is no inbox around it.')
  return inbox
}
