import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { findLeads } from '../leads.ts'
import { findConversations } from './calls.ts'
import { isSameNumber, peopleOf } from './whom-rules.ts'

/** Fewer characters find nobody. */
export const minTerm = 2
const mostPeople = 6
// One for each connection, in each spelling of the number.
const mostTalks = 50
const freshMs = 10_000

/** Whom a few words find, with the words. */
export function useFoundPeople(workspaceId: string, term: string) {
  return useQuery({
    queryKey: [workspaceId, 'inbox', 'whom', term],
    queryFn: async () => {
      const [leads, conversations] = await Promise.all([
        findLeads(workspaceId, term, mostPeople),
        findConversations(workspaceId, term, mostPeople),
      ])
      return { term, people: peopleOf(leads, conversations).slice(0, mostPeople) }
    },
    enabled: term.length >= minTerm,
    placeholderData: keepPreviousData,
    staleTime: freshMs,
  })
}

/** The conversations with a number, however it is spelled: on each connection there is one at most. */
export function useTalksWith(workspaceId: string, phone: string | null) {
  return useQuery({
    queryKey: [workspaceId, 'inbox', 'talks', phone],
    queryFn: async () => {
      const found = await findConversations(workspaceId, phone ?? '', mostTalks)
      return found.filter(({ contact }) => contact.phone !== null && isSameNumber(contact.phone, phone ?? ''))
    },
    enabled: phone !== null,
    // As of now, each time: one may have begun since.
    gcTime: 0,
  })
}
