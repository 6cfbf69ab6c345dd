import { createHash } from 'node:crypto'
import type { AdPlatform, Priority, Source } from '../lead/lead.ts'
import type { SearchTerm } from '../lead/search-lines.ts'
import { type Conditions, resolved } from './sorted/conditions.ts'
import type { Arrangement, Place } from './sorted/order.ts'

/** Which live leads a list shows, and in what order. Every field that is set narrows it. */
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
  /** Leads that an import has brought, or found as they were; absent without one, so that cursors stay as they are. */
  importId?: string
  /** Labels of which a lead has any, and labels of which it has none; absent as well without any. */
  labelIds?: string[]
  withoutLabelIds?: string[]
  /** On any column, beside the others; absent without one, likewise. */
  conditions?: Conditions
}

/** Which leads came by an import, and which labels they have, the database alone knows. */
export const isForDatabase = ({ importId, labelIds, withoutLabelIds, conditions }: LeadFilter): boolean =>
  importId !== undefined ||
  labelIds !== undefined ||
  withoutLabelIds !== undefined ||
  (conditions?.list.some(({ column }) => column === 'labels') ?? false)

/** Shows everything. */
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

/** The same filter as it is at that moment: the last days are counted from then, however long its pages take. */
export const asOf = (filter: LeadFilter, now: Date): LeadFilter =>
  filter.conditions === undefined ? filter : { ...filter, conditions: resolved(filter.conditions, now) }

/** Tells two filters apart in a cursor, without the cursor holding what was searched for. */
export function filterDigest(filter: LeadFilter): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
}

/** What is asked of a list: of the database, or of an index in memory. */
export interface Wanted {
  filter: LeadFilter
  /** Resolved. */
  conditions: Conditions
  term: SearchTerm | null
  arrangement: Arrangement
  /** The lead behind which the page begins. */
  after: Place | null
  offset: number
  limit: number
  /** Without it the total is null, and only as much is looked at as the page takes. */
  needsTotal: boolean
}

export interface Found {
  /** Where the leads stood when they were found. */
  places: Place[]
  total: number | null
}

/** An order by a time, which indexes of the database keep; keys of its places are milliseconds. */
export type Timely = Arrangement & { by: 'createdAt' | 'updatedAt' }

export const isTimely = (arrangement: Pick<Arrangement, 'by'>): arrangement is Timely =>
  arrangement.by === 'createdAt' || arrangement.by === 'updatedAt'
