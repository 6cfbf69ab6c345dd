import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { useIsLiveReady } from '../../api/live.ts'
import { refetchQueries } from '../../api/refetch.ts'
import type { Inbox } from './inbox.ts'

/** An answer that an agent proposes, which people approve. */
export type AgentDraft = Schemas['TeamDraft']
type WaitingDraft = Schemas['WaitingDraft']

const inboxPath = '/api/team/v1/workspaces/{workspaceId}/inbox' as const
const draftPath = `${inboxPath}/conversations/{id}/drafts/{draftId}` as const

const draftsKey = (workspaceId: string) => [workspaceId, 'inbox', 'agent drafts'] as const

/** Returns the drafts that wait for approval, longest waiting first. The live stream keeps them fresh. */
export function useWaitingDrafts(workspaceId: string): readonly WaitingDraft[] {
  const enabled = useIsLiveReady()
  const queryFn = async () => (await api.GET(`${inboxPath}/drafts`, { workspaceId })).drafts
  const queryKey = draftsKey(workspaceId)
  return useQuery({ queryKey, queryFn, enabled, staleTime: Number.POSITIVE_INFINITY }).data ?? none
}

const none: readonly WaitingDraft[] = []

/** Returns the draft of a conversation; null if there is none. */
export function useAgentDraft(workspaceId: string, id: string): AgentDraft | null {
  const waiting = useWaitingDrafts(workspaceId).find((one) => one.conversationId === id)
  const queryFn = async () => (await api.GET(`${inboxPath}/conversations/{id}/draft`, { workspaceId, id })).draft
  const queryKey = [...draftsKey(workspaceId), id, waiting?.id]
  const enabled = waiting !== undefined
  const { data } = useQuery({ queryKey, queryFn, enabled, staleTime: Number.POSITIVE_INFINITY })
  return enabled ? (data ?? null) : null
}

/** Refetches the drafts after an event. */
export const refetchDrafts = ({ queries, workspaceId }: Inbox): Promise<void> =>
  refetchQueries(queries, draftsKey(workspaceId))

/** Returns whether the conversation has a draft, as far as is known. */
export const hasDraft = ({ queries, workspaceId }: Inbox, id: string): boolean =>
  queries.getQueryData<WaitingDraft[]>(draftsKey(workspaceId))?.some((one) => one.conversationId === id) === true

/** Sends the draft, with another text if one is given. */
export async function approveDraft(inbox: Inbox, id: string, draftId: string, text: string | null): Promise<void> {
  const body = text === null ? {} : { text }
  await api
    .POST(`${draftPath}/approve`, { workspaceId: inbox.workspaceId, id, draftId, body })
    .finally(() => refetchDrafts(inbox))
}

export async function rejectDraft(inbox: Inbox, id: string, draftId: string, reason: string): Promise<void> {
  const body = reason.trim() === '' ? {} : { reason }
  await api
    .POST(`${draftPath}/reject`, { workspaceId: inbox.workspaceId, id, draftId, body })
    .finally(() => refetchDrafts(inbox))
}
