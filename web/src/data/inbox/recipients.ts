import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { findLeads } from '../leads.ts'
import { findConversations } from './calls.ts'
import { isSameNumber, recipientMatches } from './recipient-rules.ts'

/** Shorter terms find nothing. */
export const minTerm = 2
const maxPeople = 6
// One per connection and spelling of the number.
const maxConversations = 50
const freshMs = 10_000

/** Returns the search results, with the term they belong to. */
export function useRecipientSearch(workspaceId: string, term: string) {
  return useQuery({
    queryKey: [workspaceId, 'inbox', 'recipients', term],
    queryFn: async () => {
      const [leads, conversations] = await Promise.all([
        findLeads(workspaceId, term, maxPeople),
        findConversations(workspaceId, term, maxPeople),
      ])
      return { term, people: recipientMatches(leads, conversations).slice(0, maxPeople) }
    },
    enabled: term.length >= minTerm,
    placeholderData: keepPreviousData,
    staleTime: freshMs,
  })
}

/** Returns conversations with a number in any spelling; at most one per connection. */
export function useConversationsWithPhone(workspaceId: string, phone: string | null) {
  return useQuery({
    queryKey: [workspaceId, 'inbox', 'with phone', phone],
    queryFn: async () => {
      const found = await findConversations(workspaceId, phone ?? '', maxConversations)
      return found.filter(({ contact }) => contact.phone !== null && isSameNumber(contact.phone, phone ?? ''))
    },
    enabled: phone !== null,
    // Refetched each time: a conversation may have started since.
    gcTime: 0,
  })
}
