import type { Lead, LeadDeps } from '../lead/lead.ts'
import type { Arrangement } from './arranged/order.ts'
import type { LeadFilter, LeadSort } from './list-filter.ts'
import type { MemoryIndexes } from './memory-index/client.ts'

export interface ListDeps extends LeadDeps {
  /** Answers for large workspaces from memory; without it the database answers everything. */
  memoryIndexes?: MemoryIndexes
  /** How many leads the database puts in an order that no index keeps. */
  maxSorted?: number
  /** How many leads are opened for a page whose order the database cannot tell. */
  maxOpened?: number
}

export interface ListRequest {
  filter: LeadFilter
  sort: LeadSort | Omit<Arrangement, 'choices'>
  limit: number
  /** Counted from 1; without meaning when there is a cursor. */
  page: number
  cursor: string | null
}

export interface LeadPage {
  leads: Lead[]
  total: number
  nextCursor: string | null
}
