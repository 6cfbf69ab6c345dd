import { useMatch, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useNewestSearch } from '../../ui/use-newest-search.ts'
import { type LeadAddress, readAddress, savedQuery } from './address.ts'

export type GoTo = (next: (before: LeadAddress) => LeadAddress, how?: { replace: boolean }) => void

let lastQuery = ''

/** Where somebody was among the leads last, as a view keeps it: the way back from one of them goes there. */
export const lastView = (): string => lastQuery

/** What the address bar says of this page, and how to change it. */
export function useLeadAddress(): [LeadAddress, GoTo] {
  const { pathname, search } = useMatch({ from: '/w/$workspaceId/leads' })
  const address = useNewestSearch<LeadAddress>(pathname, search, readAddress)
  lastQuery = savedQuery(address)
  const navigate = useNavigate({ from: '/w/$workspaceId/leads' })
  const goTo = useCallback<GoTo>(
    (next, { replace } = { replace: false }) =>
      void navigate({ search: (before) => readAddress({ ...next(before) }), replace }),
    [navigate],
  )
  return [address, goTo]
}
