import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { type Lead, leadKey, leadsKey, type NewLead, createLead as postLead } from '../leads.ts'
import { conversationsWithKey, type Detail, detailKey } from './cache.ts'
import type { Inbox } from './inbox.ts'
import { currentSequence, withLiveChanges } from './live-changes.ts'
import type { ContactCard } from './types.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations'

/** Returns all conversations with a number, on any connection. */
export function useConversationsWith(workspaceId: string, phone: string) {
  const queries = useQueryClient()
  return useQuery({
    queryKey: conversationsWithKey(workspaceId, phone),
    queryFn: async () => {
      const requestedAt = currentSequence()
      const { conversations } = await api.GET(path, { workspaceId, query: { phone, limit: 20 } })
      return conversations.map((row) => withLiveChanges({ queries, workspaceId }, row, requestedAt))
    },
  })
}

/** Creates a lead from the customer of a conversation. */
export async function createLead(
  { queries, workspaceId }: Inbox,
  conversationId: string,
  { name, phone }: { name: string | null; phone: string | null },
): Promise<Lead> {
  const lead = { ...namesOf(name, `+${phone ?? ''}`), ...(phone === null ? {} : { phone }) }
  const created = await createAndCacheLead({ queries, workspaceId }, lead)
  const { id, uniqueCode, firstName, lastName, status, assignedTo } = created
  const brief = { id, uniqueCode, name: `${firstName} ${lastName ?? ''}`.trim(), status, assignedTo }
  queries.setQueryData<Detail>(detailKey(workspaceId, conversationId), (detail) => detail && { ...detail, lead: brief })
  return created
}

/** Creates a lead from a contact card that a customer sent. Rejects with 409 if a lead has its phone or e-mail. */
export function createLeadFromCard(inbox: Inbox, { name, phones, emails }: ContactCard): Promise<Lead> {
  const [phone, email] = [phones[0]?.phone, emails[0]]
  return createAndCacheLead(inbox, { ...namesOf(name, phone ?? email ?? ''), phone, email })
}

// Longest first or last name.
const maxName = 255

function namesOf(name: string | null, fallback: string): { firstName: string; lastName?: string } {
  const [firstName = '', ...rest] = (name ?? '').trim().slice(0, maxName).split(/\s+/)
  const lastName = rest.join(' ')
  return { firstName: firstName || fallback, ...(lastName === '' ? {} : { lastName }) }
}

async function createAndCacheLead({ queries, workspaceId }: Inbox, lead: NewLead): Promise<Lead> {
  const created = await postLead(workspaceId, { ...lead, source: 'chat_app' })
  void queries.invalidateQueries({ queryKey: leadsKey(workspaceId) })
  queries.setQueryData<Lead>(leadKey(workspaceId, created.id), created)
  return created
}
