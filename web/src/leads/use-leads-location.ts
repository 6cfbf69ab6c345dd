import { useCallback, useMemo, useState } from 'react'
import type { Lead, LeadQuery } from '../data/leads.ts'
import { type LeadAddress, queryOf, savedQuery } from '../shared/lead-view/address.ts'
import { language } from '../text/index.ts'
import { type GoTo, useLeadAddress } from './fields/use-address.ts'

export interface LeadsLocation {
  address: LeadAddress
  goTo: GoTo
  /** Query of the list; the same object until its part of the address changes. */
  query: LeadQuery
  /** The open lead as in the list when it was opened. */
  known: Lead | undefined
  open(lead: Lead | null): void
  close(): void
}

/** Returns the list and the open lead of the address. */
export function useLeadsLocation(): LeadsLocation {
  const [address, goTo] = useLeadAddress()
  const [known, setKnown] = useState<Lead | undefined>(undefined)
  // The open lead and the columns do not affect the query.
  const { cols: _, ...listed } = address
  const listQuery = savedQuery(listed)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `listQuery` stands for the address
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
