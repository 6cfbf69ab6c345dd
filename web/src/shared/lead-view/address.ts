import type { LeadQuery, Platform, Priority, Source } from '../../data/leads.ts'
import { localInput } from '../../ui/format/local-time.ts'
import {
  type Column,
  type Condition,
  isColumn,
  isDay,
  isSortable,
  kindOf,
  maxConditions,
  readConditions,
  writeConditions,
} from './conditions.ts'

/** Query parameters of the page: filters, order, and the open lead. */
export interface LeadAddress {
  view?: 'board' | 'trash'
  q?: string
  /** Comma-separated statuses. */
  status?: string
  priority?: Priority
  source?: Source
  platform?: Platform
  assignee?: string
  /** Days in the reader's time zone, inclusive. */
  createdFrom?: string
  createdTo?: string
  updatedFrom?: string
  updatedTo?: string
  /** Leads created by this import. */
  import?: string
  /** Comma-separated ids of labels: leads with any of them, and leads without all of them. */
  labels?: string
  withoutLabels?: string
  /** Conditions that the parameters above cannot express, and whether any of them suffices. */
  where?: string
  match?: 'any'
  sort?: Sort
  /** Columns with widths, unless the reader's own choice applies. */
  cols?: string
  /** The open saved view; the other parameters may differ from it by now. */
  saved?: string
  lead?: string
}

/** A column; a minus in front means descending. */
export type Sort = string

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
  where: /^.{1,6000}$/s,
  match: /^any$/,
  sort: /^-?[A-Za-z:_0-9]{1,50}$/,
  cols: /^[\w:~,]{1,1500}$/,
  saved: /^[0-9a-f-]{36}$/,
  lead: /^[0-9a-f-]{36}$/,
}

/** Drops invalid parameters. */
export function readAddress(search: Record<string, unknown>): LeadAddress {
  const sound = Object.entries(patterns).flatMap(([name, pattern]) => {
    const value = search[name]
    const text = typeof value === 'number' ? String(value) : value
    return typeof text === 'string' && pattern.test(text) && isValidValue(name, text) ? [[name, text]] : []
  })
  return Object.fromEntries(sound)
}

function isValidValue(name: string, text: string): boolean {
  if (/(?:From|To)$/.test(name)) return isDay(text)
  if (name === 'sort') return isColumn(text.replace(/^-/, '')) && isSortable(text.replace(/^-/, ''))
  return name !== 'where' || readConditions(text).length > 0
}

export const sortOf = ({ sort = '-createdAt' }: Pick<LeadAddress, 'sort'>) => ({
  column: sort.replace(/^-/, '') as Column,
  isDescending: sort.startsWith('-'),
})

/** Converts to a query of the API; the language determines the sort order of letters. */
export function queryOf(address: LeadAddress, sortLanguage?: 'en' | 'es' | 'pt'): LeadQuery {
  const { q, status, priority, source, platform, assignee, match } = address
  const { column, isDescending } = sortOf(address)
  const list = readConditions(address.where ?? '')
  const isOfText = column === 'name' || column === 'assignedTo' || kindOf(column) === 'custom'
  return {
    ...optional('search', q?.trim() || undefined),
    ...optional('status', status),
    ...optional('priority', priority),
    ...optional('source', source),
    ...optional('adPlatform', platform),
    ...optional('assignedTo', assignee),
    ...optional('createdFrom', startOf(address.createdFrom)),
    ...optional('createdTo', endOf(address.createdTo)),
    ...optional('updatedFrom', startOf(address.updatedFrom)),
    ...optional('updatedTo', endOf(address.updatedTo)),
    ...optional('importId', address.import),
    ...optional('labels', address.labels),
    ...optional('withoutLabels', address.withoutLabels),
    ...optional('where', list.length === 0 ? undefined : writeConditions(list.map(toTimestamps))),
    ...optional('match', list.length === 0 ? undefined : match),
    sortBy: column,
    sortOrder: isDescending ? 'desc' : 'asc',
    ...optional('sortLanguage', isOfText ? sortLanguage : undefined),
  }
}

// Converts days in the reader's time zone to timestamps.
function toTimestamps(condition: Condition): Condition {
  const { column, operator, values } = condition
  if (kindOf(column) !== 'time' || operator === 'last') return condition
  const [first = '', second = first] = values
  if (operator === 'to') return { ...condition, values: [endOf(first) ?? ''] }
  const from = startOf(first) ?? ''
  return { ...condition, values: operator === 'from' ? [from] : [from, endOf(second) ?? ''] }
}

/** Converts filters of the API to parameters; drops those that the page does not have. */
export const addressOf = ({ search, adPlatform, assignedTo, importId, where, ...rest }: LeadQuery): LeadAddress =>
  readAddress({
    ...rest,
    q: search,
    platform: adPlatform,
    assignee: assignedTo,
    import: importId,
    where: where === undefined ? undefined : writeConditions(readWhere(where)),
    createdFrom: dayOf(rest.createdFrom),
    createdTo: dayOf(rest.createdTo),
    updatedFrom: dayOf(rest.updatedFrom),
    updatedTo: dayOf(rest.updatedTo),
  })

const optional = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [N in K]?: V }

const startOf = (day: string | undefined) => (day === undefined ? undefined : new Date(`${day}T00:00`).toISOString())
const endOf = (day: string | undefined) =>
  day === undefined ? undefined : new Date(`${day}T23:59:59.999`).toISOString()

/** Columns whose simple conditions have parameters of their own, which is the older format. */
const simpleColumns = {
  status: 'status',
  priority: 'priority',
  source: 'source',
  adPlatform: 'platform',
  assignedTo: 'assignee',
} as const
const days = { createdAt: ['createdFrom', 'createdTo'], updatedAt: ['updatedFrom', 'updatedTo'] } as const
const labels = { labels: 'is', withoutLabels: 'isNot' } as const
const filterFields = new Set<string>([
  ...Object.values(simpleColumns),
  ...Object.values(days).flat(),
  ...Object.keys(labels),
  'where',
  'match',
])

/** Returns all conditions, without the search and the import. */
export function conditionsOf(address: LeadAddress): Condition[] {
  const simple = Object.entries(simpleColumns).flatMap(([column, field]): Condition[] => {
    const text = address[field]
    return text === undefined ? [] : [{ column: column as Column, operator: 'is', values: text.split(',') }]
  })
  const ranges = Object.entries(days).flatMap(([column, [fromField, toField]]): Condition[] => {
    const [from, to] = [address[fromField], address[toField]]
    const at = { column: column as Column }
    if (from !== undefined && to !== undefined) return [{ ...at, operator: 'between', values: [from, to] }]
    if (from !== undefined) return [{ ...at, operator: 'from', values: [from] }]
    return to === undefined ? [] : [{ ...at, operator: 'to', values: [to] }]
  })
  const labelled = Object.entries(labels).flatMap(([field, operator]): Condition[] => {
    const ids = address[field as keyof typeof labels]
    return ids === undefined ? [] : [{ column: 'labels', operator, values: ids.split(',') }]
  })
  return [...simple, ...ranges, ...labelled, ...readConditions(address.where ?? '')]
}

/** Replaces the conditions; a `match` of null means all must apply. */
export function withConditions(
  address: LeadAddress,
  list: readonly Condition[],
  match: 'any' | null = address.match ?? null,
): LeadAddress {
  const keptFields = Object.fromEntries(Object.entries(address).filter(([field]) => !filterFields.has(field)))
  const fields: Record<string, string> = {}
  const others = list.slice(0, maxConditions).filter((condition) => {
    const fieldsOfCondition = match === 'any' ? {} : toParameters(condition)
    const names = Object.keys(fieldsOfCondition)
    const isNew = names.length > 0 && names.every((name) => !groupOf(name).some((one) => one in fields))
    if (isNew) Object.assign(fields, fieldsOfCondition)
    return !isNew
  })
  return {
    ...keptFields,
    ...fields,
    ...optional('where', others.length === 0 ? undefined : writeConditions(others)),
    ...(match !== null && { match }),
  }
}

const groupOf = (name: string): readonly string[] =>
  Object.values(days).find((pair) => (pair as readonly string[]).includes(name)) ?? [name]

/** Expresses a condition in the parameters of its column, if possible. */
function toParameters({ column, operator, values }: Condition): Record<string, string> {
  if (Object.hasOwn(simpleColumns, column)) {
    const isSimple = operator === 'is' && (column === 'status' || values.length === 1)
    return isSimple ? { [simpleColumns[column as keyof typeof simpleColumns]]: values.join(',') } : {}
  }
  if (column === 'labels') {
    const field = Object.entries(labels).find(([, one]) => one === operator)?.[0]
    return field === undefined ? {} : { [field]: values.join(',') }
  }
  if (!Object.hasOwn(days, column)) return {}
  const [fromField, toField] = days[column as keyof typeof days]
  const [first = '', second = ''] = values
  if (operator === 'from') return { [fromField]: first }
  if (operator === 'to') return { [toField]: first }
  return operator === 'between' ? { [fromField]: first, [toField]: second } : {}
}

export const isFiltered = (address: LeadAddress): boolean =>
  address.q !== undefined || address.import !== undefined || conditionsOf(address).length > 0

/** Removes all filters. */
export const withoutFilters = ({ q: _, import: __, ...address }: LeadAddress): LeadAddress =>
  withConditions(address, [], null)

/** Returns the query that a saved view stores, without the open lead and the saved view itself. */
export function savedQuery({ lead: _, saved: __, ...keptFields }: LeadAddress): string {
  return new URLSearchParams(keptFields as Record<string, string>).toString()
}

export const readSavedQuery = (query: string): LeadAddress =>
  readAddress(Object.fromEntries(new URLSearchParams(query)))

/** Parses conditions of the API, which has timestamps for days. */
const readWhere = (where: string): Condition[] =>
  readConditions(
    where.replace(/\d{4}-\d\d-\d\dT[\d:]+%2e\d{3}Z/gi, (moment) => dayOf(moment.replace(/%2e/i, '.')) ?? ''),
  )

const dayOf = (moment: string | undefined): string | undefined =>
  moment === undefined || Number.isNaN(Date.parse(moment)) ? undefined : localInput(moment).slice(0, 10)
