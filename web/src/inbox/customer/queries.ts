import { type QueryClient, useQuery } from '@tanstack/react-query'
import { api, body, type Schemas } from '../../api/client.ts'
import { complain } from '../../ui/notices.tsx'
import { type Detail, detailKey, withKey } from '../cache.ts'
import type { Inbox } from '../inbox.ts'

const workspace = '/api/team/v1/workspaces/{workspaceId}' as const
const leads = `${workspace}/leads` as const
export type LeadDetail = Schemas['LeadDetail']
export type LeadChanges = Parameters<typeof patchLead>[2]

// The same key as everywhere in the app: a lead that is changed in one place is changed in all.
export const leadKey = (workspaceId: string, id: string) => [workspaceId, 'leads', 'one', id] as const

export function useLead(workspaceId: string, id: string) {
  return useQuery({
    queryKey: leadKey(workspaceId, id),
    queryFn: async () =>
      (await body(api.GET(`${leads}/{identifier}`, { params: { path: { workspaceId, identifier: id } } }))).lead,
  })
}

export function useLeadHistory(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'changes'],
    queryFn: async () =>
      (await body(api.GET(`${leads}/{identifier}/history`, { params: { path: { workspaceId, identifier: id } } })))
        .history,
  })
}

/** Every conversation with a number, whatever its connection. */
export function useConversationsWith(workspaceId: string, phone: string) {
  return useQuery({
    queryKey: withKey(workspaceId, phone),
    queryFn: async () =>
      (
        await body(
          api.GET(`${workspace}/inbox/conversations`, {
            params: { path: { workspaceId }, query: { phone, limit: 20 } },
          }),
        )
      ).conversations,
  })
}

async function patchLead(
  workspaceId: string,
  id: string,
  changes: {
    status?: string
    priority?: LeadDetail['priority']
    assignedTo?: string | null
    estimatedValue?: number | null
    actualValue?: number | null
    customFieldValues?: Record<string, string | boolean | null>
  },
): Promise<LeadDetail> {
  const params = { path: { workspaceId, identifier: id } }
  return (await body(api.PATCH(`${leads}/{identifier}`, { params, body: changes }))).lead
}

/** Changes a lead: at once for the eye, taken back with a word when the service refuses. */
export async function changeLead(
  queries: QueryClient,
  workspaceId: string,
  id: string,
  changes: LeadChanges,
): Promise<void> {
  const key = leadKey(workspaceId, id)
  const before = queries.getQueryData<LeadDetail>(key)
  const { customFieldValues: _, ...plain } = changes
  queries.setQueryData<LeadDetail>(key, (lead) => lead && { ...lead, ...plain })
  try {
    queries.setQueryData<LeadDetail>(key, await patchLead(workspaceId, id, changes))
    if (changes.status !== undefined) void queries.invalidateQueries({ queryKey: [...key, 'changes'] })
  } catch (error) {
    queries.setQueryData<LeadDetail>(key, before)
    complain(error)
  }
}

/** Makes a lead of whom a conversation is with, as far as they are known. */
export async function createLead(
  { queries, workspaceId }: Inbox,
  conversationId: string,
  { name, phone }: { name: string | null; phone: string | null },
): Promise<LeadDetail> {
  const [firstName = '', ...rest] = (name ?? '').trim().split(/\s+/)
  const lastName = rest.join(' ')
  const lead = {
    firstName: firstName || `+${phone ?? ''}`,
    source: 'chat_app' as const,
    ...(lastName === '' ? {} : { lastName }),
    ...(phone === null ? {} : { phone }),
  }
  const made = (await body(api.POST(leads, { params: { path: { workspaceId } }, body: lead }))).lead
  queries.setQueryData<LeadDetail>(leadKey(workspaceId, made.id), made)
  const { id, uniqueCode, status, assignedTo } = made
  const brief = { id, uniqueCode, name: [made.firstName, made.lastName ?? ''].join(' ').trim(), status, assignedTo }
  queries.setQueryData<Detail>(detailKey(workspaceId, conversationId), (detail) => detail && { ...detail, lead: brief })
  return made
}
