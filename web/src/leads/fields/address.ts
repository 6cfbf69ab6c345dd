import type { LeadQuery, Platform, Priority, Source } from '../../data/leads.ts'

/** What the address bar says of the page: which leads, in what order, and which one is open. */
export interface LeadAddress {
  view?: 'board' | 'trash'
  q?: string
  /** Statuses with commas. */
  status?: string
  priority?: Priority
  source?: Source
  platform?: Platform
  assignee?: string
  /** Days of the reader's calendar, both within. */
  createdFrom?: string
  createdTo?: string
  updatedFrom?: string
  updatedTo?: string
  /** Leads that this import has brought. */
  import?: string
  /** Ids with commas: of which a lead has any, and of which it has none. */
  labels?: string
  withoutLabels?: string
  sort?: Sort
  /** Columns with their widths, where they are not the reader's own choice. */
  cols?: string
  /** The saved view that is open; the rest may say something else by now. */
  saved?: string
  /** The lead in the side panel. */
  lead?: string
}

export type Sort = '-createdAt' | 'createdAt' | '-updatedAt' | 'updatedAt'
export type FilterName =
  | 'status'
  | 'priority'
  | 'source'
  | 'platform'
  | 'assignee'
  | 'created'
  | 'updated'
  | 'import'
  | 'labels'
  | 'withoutLabels'

const patterns: { [K in keyof LeadAddress]-?: RegExp } = {
  view: /^(?:board|trash)$/,
  q: /^.{1,255}$/s,
  status: /^[a-z0-9_]{1,50}(?:,[a-z0-9_]{1,50})*$/,
  priority: /^(?:low|medium|high|urgent)$/,
  source: /^(?:website|chat_app|phone|email|referral|social|ads|event|other)$/,
  platform: /^(?:meta|google|tiktok|linkedin|chatgpt|x|other)$/,
  assignee: /^[0-9a-f-]{36}$/,
  createdFrom: /^\d{4}-\d\d-\d\d$/,
  createdTo: /^\d{4}-\d\d-\d\d$/,
  updatedFrom: /^\d{4}-\d\d-\d\d$/,
  updatedTo: /^\d{4}-\d\d-\d\d$/,
  import: /^[0-9a-f-]{36}$/,
  labels: /^[0-9a-f-]{36}(?:,[0-9a-f-]{36}){0,19}$/,
  withoutLabels: /^[0-9a-f-]{36}(?:,[0-9a-f-]{36}){0,19}$/,
  sort: /^-?(?:created|updated)At$/,
  cols: /^[\w:~,]{1,1500}$/,
  saved: /^[0-9a-f-]{36}$/,
  lead: /^[0-9a-f-]{36}$/,
}

/** What of an address makes sense; the rest is left out. */
export function readAddress(search: Record<string, unknown>): LeadAddress {
  const sound = Object.entries(patterns).flatMap(([name, pattern]) => {
    const value = search[name]
    const text = typeof value === 'number' ? String(value) : value
    return typeof text === 'string' && pattern.test(text) && isDayOrOther(name, text) ? [[name, text]] : []
  })
  return Object.fromEntries(sound)
}

const isDayOrOther = (name: string, text: string): boolean =>
  !/(?:From|To)$/.test(name) || !Number.isNaN(Date.parse(`${text}T00:00`))

export function queryOf(address: LeadAddress): LeadQuery {
  const { q, status, priority, source, platform, assignee, sort = '-createdAt' } = address
  return {
    ...given('search', q?.trim() || undefined),
    ...given('status', status),
    ...given('priority', priority),
    ...given('source', source),
    ...given('adPlatform', platform),
    ...given('assignedTo', assignee),
    ...given('createdFrom', startOf(address.createdFrom)),
    ...given('createdTo', endOf(address.createdTo)),
    ...given('updatedFrom', startOf(address.updatedFrom)),
    ...given('updatedTo', endOf(address.updatedTo)),
    ...given('importId', address.import),
    ...given('labels', address.labels),
    ...given('withoutLabels', address.withoutLabels),
    sortBy: sort.endsWith('createdAt') ? 'createdAt' : 'updatedAt',
    sortOrder: sort.startsWith('-') ? 'desc' : 'asc',
  }
}

/** The address whose query a set of the service's filters is; what is no filter of ours is left out. */
export const addressOf = ({ search, adPlatform, assignedTo, importId, ...rest }: LeadQuery): LeadAddress =>
  readAddress({
    ...rest,
    q: search,
    platform: adPlatform,
    assignee: assignedTo,
    import: importId,
    createdFrom: dayOf(rest.createdFrom),
    createdTo: dayOf(rest.createdTo),
    updatedFrom: dayOf(rest.updatedFrom),
    updatedTo: dayOf(rest.updatedTo),
  })

const given = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [N in K]?: V }

const startOf = (day: string | undefined) => (day === undefined ? undefined : new Date(`${day}T00:00`).toISOString())
const endOf = (day: string | undefined) =>
  day === undefined ? undefined : new Date(`${day}T23:59:59.999`).toISOString()

export const fieldsOf: Record<FilterName, readonly (keyof LeadAddress)[]> = {
  status: ['status'],
  priority: ['priority'],
  source: ['source'],
  platform: ['platform'],
  assignee: ['assignee'],
  created: ['createdFrom', 'createdTo'],
  updated: ['updatedFrom', 'updatedTo'],
  import: ['import'],
  labels: ['labels'],
  withoutLabels: ['withoutLabels'],
}
export const filterNames = Object.keys(fieldsOf) as readonly FilterName[]

export const activeFilters = (address: LeadAddress): FilterName[] =>
  filterNames.filter((name) => fieldsOf[name].some((field) => address[field] !== undefined))

export const without = (address: LeadAddress, names: readonly FilterName[]): LeadAddress => {
  const gone = new Set<string>(names.flatMap((name) => fieldsOf[name]))
  return Object.fromEntries(Object.entries(address).filter(([field]) => !gone.has(field)))
}

/** The part of an address that a saved view keeps: not which lead happens to be open, nor which view it is. */
export function savedQuery({ lead: _, saved: __, ...kept }: LeadAddress): string {
  return new URLSearchParams(kept as Record<string, string>).toString()
}

export const readSavedQuery = (query: string): LeadAddress =>
  readAddress(Object.fromEntries(new URLSearchParams(query)))

const dayOf = (moment: string | undefined): string | undefined =>
  moment === undefined || Number.isNaN(Date.parse(moment)) ? undefined : dayBefore(0, new Date(moment))

/** A day of the reader's calendar, `days` before now. */
export function dayBefore(days: number, now: Date = new Date()): string {
  const at = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}
