import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body } from '../../api/client.ts'
import { type Lead, leadKey, leadsOf, createLead as postLead } from '../leads.ts'
import { type Detail, detailKey, withKey } from './cache.ts'
import { rowToShow, thisMoment } from './heard-changes.ts'
import type { Inbox } from './inbox.ts'

const workspace = '/api/team/v1/workspaces/{workspaceId}' as const

/** Every conversation with a number, whatever its connection. */
export function useConversationsWith(workspaceId: string, phone: string) {
  const queries = useQueryClient()
  return useQuery({
    queryKey: withKey(workspaceId, phone),
    queryFn: async () => {
      const asked = thisMoment()
      const params = { path: { workspaceId }, query: { phone, limit: 20 } }
      const { conversations } = await body(api.GET(`${workspace}/inbox/conversations`, { params }))
      return conversations.map((row) => rowToShow({ queries, workspaceId }, row, asked))
    },
  })
}

/** Makes a lead of whom a conversation is with, as far as they are known. */
export async function createLead(
  { queries, workspaceId }: Inbox,
  conversationId: string,
  { name, phone }: { name: string | null; phone: string | null },
): Promise<Lead> {
  const [firstName = '', ...rest] = (name ?? '').trim().split(/\s+/)
  const lastName = rest.join(' ')
  const lead = {
    firstName: firstName || `+${phone ?? ''}`,
    source: 'chat_app' as const,
    ...(lastName === '' ? {} : { lastName }),
    ...(phone === null ? {} : { phone }),
  }
  const made = await postLead(workspaceId, lead)
  void queries.invalidateQueries({ queryKey: leadsOf(workspaceId) })
  queries.setQueryData<Lead>(leadKey(workspaceId, made.id), made)
  const { id, uniqueCode, status, assignedTo } = made
  const brief = { id, uniqueCode, name: [made.firstName, made.lastName ?? ''].join(' ').trim(), status, assignedTo }
  queries.setQueryData<Detail>(detailKey(workspaceId, conversationId), (detail) => detail && { ...detail, lead: brief })
  return made
}
