import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { findLeads } from '../leads.ts'
import { findConversations } from './calls.ts'
import { isSameNumber, recipientMatches } from './recipient-rules.ts'

/** Fewer characters find nobody. */
export const minTerm = 2
const maxPeople = 6
// One for each connection, in each spelling of the number.
const maxConversations = 50
const freshMs = 10_000

/** Whom a few words find, with the words. */
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

/** The conversations with a number, however it is spelled: on each connection there is one at most. */
export function useConversationsWithPhone(workspaceId: string, phone: string | null) {
  return useQuery({
    queryKey: [workspaceId, 'inbox', 'with phone', phone],
    queryFn: async () => {
      const found = await findConversations(workspaceId, phone ?? '', maxConversations)
      return found.filter(({ contact }) => contact.phone !== null && isSameNumber(contact.phone, phone ?? ''))
    },
    enabled: phone !== null,
    // As of now, each time: one may have begun since.
    gcTime: 0,
  })
}
