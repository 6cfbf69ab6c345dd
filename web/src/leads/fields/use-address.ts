import { useMatch } from '@tanstack/react-router'
import { type LeadAddress, readAddress, savedQuery } from '../../shared/lead-view/address.ts'
import { type ChangeSearch, useChangeSearch, useNewestSearch } from '../../ui/use-newest-search.ts'

export type GoTo = ChangeSearch<LeadAddress>

let lastQuery = ''

/** Returns the query of the last list of leads, for the link back to it. */
export const lastListQuery = (): string => lastQuery

/** Returns the query parameters of the page, and a function to change them. */
export function useLeadAddress(): [LeadAddress, GoTo] {
  const { pathname, search } = useMatch({ from: '/w/$workspaceId/leads' })
  const address = useNewestSearch<LeadAddress>(pathname, search, readAddress)
  lastQuery = savedQuery(address)
  return [address, useChangeSearch(readAddress)]
}
