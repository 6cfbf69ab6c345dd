import { useCallback, useMemo, useState } from 'react'
import type { Lead, LeadQuery } from '../data/leads.ts'
import { language } from '../text/index.ts'
import { type LeadAddress, queryOf, savedQuery } from './fields/address.ts'
import { type GoTo, useLeadAddress } from './fields/use-address.ts'

export interface LeadsLocation {
  address: LeadAddress
  goTo: GoTo
  /** What is asked of the list: the same one as long as that part of the address is. */
  query: LeadQuery
  /** The open lead as the list knew it when it was opened. */
  known: Lead | undefined
  open(lead: Lead | null): void
  close(): void
}

/** The list that the address asks for, and which lead of it is open. */
export function useLeadsLocation(): LeadsLocation {
  const [address, goTo] = useLeadAddress()
  const [known, setKnown] = useState<Lead | undefined>(undefined)
  // Which lead is open changes nothing of the list, nor which columns are shown.
  const { cols: _, ...listed } = address
  const listQuery = savedQuery(listed)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `listQuery` is all of the address that the query is made of
  const query = useMemo(() => queryOf(address, language), [listQuery])
  const open = useCallback(
    (lead: Lead | null) => {
      setKnown(lead ?? undefined)
      goTo(({ lead: before, ...rest }) => (lead === null ? rest : { ...rest, lead: lead.id }), {
        replace: lead === null || address.lead !== undefined,
      })
    },
    [goTo, address.lead],
  )
  const close = useCallback(() => open(null), [open])
  return { address, goTo, query, known: known?.id === address.lead ? known : undefined, open, close }
}
