import type { QueryClient } from '@tanstack/react-query'

export interface Inbox {
  queries: QueryClient
  workspaceId: string
}
