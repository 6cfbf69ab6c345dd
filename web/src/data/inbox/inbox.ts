import type { QueryClient } from '@tanstack/react-query'

/** Whose inbox, and where what is known of it is held. */
export interface Inbox {
  queries: QueryClient
  workspaceId: string
}
