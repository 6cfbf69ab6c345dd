import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body } from '../../api/client.ts'
import { type Lead, leadKey, leadsOf, createLead as postLead } from '../leads.ts'
import { type Detail, detailKey, withKey } from './cache.ts'
import { rowToShow, thisMoment } from './heard-changes.ts'
import type { Inbox } from './inbox.ts'
import type { ContactCard } from './types.ts'

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
  const lead = { ...namesOf(name, `+${phone ?? ''}`), ...(phone === null ? {} : { phone }) }
  const made = await makeLead({ queries, workspaceId }, lead)
  const { id, uniqueCode, status, assignedTo } = made
  const brief = { id, uniqueCode, name: [made.firstName, made.lastName ?? ''].join(' ').trim(), status, assignedTo }
  queries.setQueryData<Detail>(detailKey(workspaceId, conversationId), (detail) => detail && { ...detail, lead: brief })
  return made
}

/** Makes a lead of a contact card that a customer sent. Rejects with 409 when there is one with its phone or e-mail. */
export function leadOfCard(inbox: Inbox, { name, phones, emails }: ContactCard): Promise<Lead> {
  const [phone, email] = [phones[0]?.phone, emails[0]]
  const lead = {
    ...namesOf(name, phone ?? email ?? ''),
    ...(phone === undefined ? {} : { phone }),
    ...(email === undefined ? {} : { email }),
  }
  return makeLead(inbox, lead)
}

// What either name may have.
const maxName = 255

function namesOf(name: string | null, otherwise: string): { firstName: string; lastName?: string } {
  const [firstName = '', ...rest] = (name ?? '').trim().slice(0, maxName).split(/\s+/)
  const lastName = rest.join(' ')
  return { firstName: firstName || otherwise, ...(lastName === '' ? {} : { lastName }) }
}

async function makeLead({ queries, workspaceId }: Inbox, lead: Parameters<typeof postLead>[1]): Promise<Lead> {
  const made = await postLead(workspaceId, { ...lead, source: 'chat_app' })
  void queries.invalidateQueries({ queryKey: leadsOf(workspaceId) })
  queries.setQueryData<Lead>(leadKey(workspaceId, made.id), made)
  return made
}
