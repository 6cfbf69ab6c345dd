import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type ResponseOf, type Schemas } from '../../api/client.ts'
import { type LiveEvent, useLive, useOnStreamOpen } from '../../api/live.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { throttle } from '../../api/throttle.ts'
import type { Inbox } from './inbox.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}' as const
const onePath = `${path}/scheduled-messages/{scheduledId}` as const

export type ScheduledMessage = Schemas['TeamScheduledMessage']
export type FollowUps = ResponseOf<`${typeof path}/follow-ups`>

const key = (workspaceId: string, id: string) => [workspaceId, 'inbox', 'follow-ups', id] as const

const refetch = (queries: QueryClient, workspaceId: string, id: string) => refetchQueries(queries, key(workspaceId, id))

const liveEvents = ['team.conversation.changed', 'team.conversations.changed']
const intervalMs = 1_000

/** Returns what is scheduled in a conversation, kept fresh; undefined until loaded. */
export function useFollowUps({ queries, workspaceId }: Inbox, id: string): FollowUps | undefined {
  const reload = useMemo(
    () => throttle(intervalMs, () => refetch(queries, workspaceId, id)),
    [queries, workspaceId, id],
  )
  const handleEvent = useMemo(
    () =>
      ({ payload }: LiveEvent) => {
        const { conversation } = payload as { conversation?: { id: string } }
        if (conversation === undefined || conversation.id === id) reload()
      },
    [reload, id],
  )
  useLive(liveEvents, handleEvent)
  useOnStreamOpen(reload)
  const queryFn = () => api.GET(`${path}/follow-ups`, { workspaceId, id })
  return useQuery({ queryKey: key(workspaceId, id), queryFn }).data
}

/** What can be sent later. */
export type LaterContent = { text: string } | { template: Schemas['TemplateToStart'] }

export type LaterMessage = LaterContent & {
  dueAt: string
  cancelIfCustomerWrites: boolean
}

export async function scheduleMessage({ queries, workspaceId }: Inbox, id: string, body: LaterMessage): Promise<void> {
  await api.POST(`${path}/scheduled-messages`, { workspaceId, id, body })
  void refetch(queries, workspaceId, id)
}

/** Sets another time; null sends it now. */
export async function rescheduleMessage(
  { queries, workspaceId }: Inbox,
  id: string,
  scheduledId: string,
  dueAt: string | null,
): Promise<void> {
  await api
    .PATCH(onePath, { workspaceId, id, scheduledId, body: { dueAt } })
    .finally(() => refetch(queries, workspaceId, id))
}

export async function cancelScheduled({ queries, workspaceId }: Inbox, id: string, scheduledId: string): Promise<void> {
  await api.POST(`${onePath}/cancel`, { workspaceId, id, scheduledId }).finally(() => refetch(queries, workspaceId, id))
}

/** Reminds the reader if the customer has not written in so many days; null removes the reminder. */
export async function remindOfSilence({ queries, workspaceId }: Inbox, id: string, days: number | null): Promise<void> {
  if (days === null) await api.DELETE(`${path}/silence-reminder`, { workspaceId, id })
  else await api.PUT(`${path}/silence-reminder`, { workspaceId, id, body: { days } })
  void refetch(queries, workspaceId, id)
}
