import { useMatch } from '@tanstack/react-router'
import { type ChangeSearch, useChangeSearch, useNewestSearch } from '../../ui/use-newest-search.ts'
import { type LeadAddress, readAddress, savedQuery } from './address.ts'

export type GoTo = ChangeSearch<LeadAddress>

let lastQuery = ''

/** Where somebody was among the leads last, as a view keeps it: the way back from one of them goes there. */
export const lastView = (): string => lastQuery

/** What the address bar says of this page, and how to change it. */
export function useLeadAddress(): [LeadAddress, GoTo] {
  const { pathname, search } = useMatch({ from: '/w/$workspaceId/leads' })
  const address = useNewestSearch<LeadAddress>(pathname, search, readAddress)
  lastQuery = savedQuery(address)
  return [address, useChangeSearch(readAddress)]
}
