import { useQuery } from '@tanstack/react-query'
import { threadKey } from '../../data/inbox/cache.ts'
import type { Thread } from '../../data/inbox/thread-rules.ts'
import type { TimelineItem } from '../../data/inbox/types.ts'

const recent = 5

/** The thread as far as it has been read; nothing is asked for. */
export function useKnownThread(workspaceId: string, id: string): Thread | undefined {
  return useQuery<Thread>({
    queryKey: threadKey(workspaceId, id),
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
  }).data
}

/** The agent whose message is on its way to the platform right now; null when there is none. */
export function useSendingAgent(workspaceId: string, id: string): string | null {
  return sendingAgent(useKnownThread(workspaceId, id)?.items ?? [])
}

export function sendingAgent(items: readonly TimelineItem[]): string | null {
  const on = items
    .slice(-recent)
    .find(({ message }) => message?.status === 'pending' && message.author.type === 'agent')
  return on?.message?.author.name ?? null
}
