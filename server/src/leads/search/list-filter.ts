import { createHash } from 'node:crypto'
import type { AdPlatform, Priority, Source } from '../lead/lead.ts'
import type { SearchTerm } from '../lead/search-lines.ts'
import { type Conditions, resolveConditions } from './sorted/conditions.ts'
import type { Place, SortOrder } from './sorted/order.ts'

/** Filter for live leads; all fields that are set must match. */
export interface LeadFilter {
  statuses: string[] | null
  priority: Priority | null
  source: Source | null
  adPlatform: AdPlatform | null
  assignedTo: string | null
  createdFrom: Date | null
  createdTo: Date | null
  updatedFrom: Date | null
  updatedTo: Date | null
  search: string | null
  /** Leads that this import created, changed or found unchanged. Absent if unused, so that old cursors stay valid. */
  importId?: string
  /** Leads with any of these labels, and leads with none of these. Absent if unused. */
  labelIds?: string[]
  withoutLabelIds?: string[]
  /** Conditions on any column, in addition to the other fields. Absent if unused. */
  conditions?: Conditions
}

/** Returns true if only the database can answer: the memory index has no imports and labels. */
export const needsDatabase = ({ importId, labelIds, withoutLabelIds, conditions }: LeadFilter): boolean =>
  importId !== undefined ||
  labelIds !== undefined ||
  withoutLabelIds !== undefined ||
  (conditions?.list.some(({ column }) => column === 'labels') ?? false)

export const noFilter: LeadFilter = {
  statuses: null,
  priority: null,
  source: null,
  adPlatform: null,
  assignedTo: null,
  createdFrom: null,
  createdTo: null,
  updatedFrom: null,
  updatedTo: null,
  search: null,
}

/** Resolves relative times to `now`, so that all pages use the same range. */
export const resolveFilter = (filter: LeadFilter, now: Date): LeadFilter =>
  filter.conditions === undefined ? filter : { ...filter, conditions: resolveConditions(filter.conditions, now) }

/** Returns a digest that identifies a filter in a cursor without revealing the search text. */
export function filterDigest(filter: LeadFilter): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
}

/** Page to read from the database or a memory index. */
export interface PageQuery {
  filter: LeadFilter
  /** With resolved times. */
  conditions: Conditions
  term: SearchTerm | null
  sortOrder: SortOrder
  /** Last place of the previous page. */
  after: Place | null
  offset: number
  limit: number
  /** If false, the total is null, and only as much is read as the page needs. */
  needsTotal: boolean
}

export interface PageResult {
  /** Places of the leads at the time of reading. */
  places: Place[]
  total: number | null
}

/** Order by a time, which database indexes support. Its place keys are milliseconds. */
export type TimeOrder = SortOrder & { by: 'createdAt' | 'updatedAt' }

export const isTimeOrder = (sortOrder: Pick<SortOrder, 'by'>): sortOrder is TimeOrder =>
  sortOrder.by === 'createdAt' || sortOrder.by === 'updatedAt'
