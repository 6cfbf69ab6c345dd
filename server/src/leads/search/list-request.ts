import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { readIsoTime } from '../../base/time.ts'
import type { TeamListQuery } from '../lead/team-list-query.ts'
import { readConditions } from './arranged/conditions.ts'
import type { Arrangement } from './arranged/order.ts'
import type { ListRequest } from './list-page.ts'

/** Reads the query of a list; times and the list of statuses are checked here. */
export function readListRequest(query: TeamListQuery): ListRequest {
  const issues: Issue[] = []
  const time = (name: 'createdFrom' | 'createdTo' | 'updatedFrom' | 'updatedTo'): Date | null => {
    const text = query[name]
    if (text === undefined) return null
    const date = readIsoTime(text)
    if (date === null) issues.push({ path: name, message: 'must be an ISO 8601 date or date-time that exists' })
    return date
  }
  const labelsIn = (name: 'labels' | 'withoutLabels'): string[] => {
    const ids = query[name]?.toLowerCase().split(',') ?? []
    if (!ids.every(isUuid)) issues.push({ path: name, message: 'must be ids of labels with commas between them' })
    return ids
  }
  const statuses = query.status?.split(',').map((status) => status.trim()) ?? null
  if (statuses?.some((status) => !/^[a-z0-9_]{1,50}$/.test(status))) {
    issues.push({ path: 'status', message: 'must be one status or a comma-separated list, each of a-z, 0-9 and _' })
  }
  const where = query.where === undefined ? null : readConditions(query.where, query.match ?? 'all')
  issues.push(...(where?.issues ?? []))
  const request: ListRequest = {
    filter: {
      statuses,
      priority: query.priority ?? null,
      source: query.source ?? null,
      adPlatform: query.adPlatform ?? null,
      assignedTo: query.assignedTo?.toLowerCase() ?? null,
      createdFrom: time('createdFrom'),
      createdTo: time('createdTo'),
      updatedFrom: time('updatedFrom'),
      updatedTo: time('updatedTo'),
      search: query.search ?? null,
      ...(query.importId !== undefined && { importId: query.importId.toLowerCase() }),
      ...(query.labels !== undefined && { labelIds: labelsIn('labels') }),
      ...(query.withoutLabels !== undefined && { withoutLabelIds: labelsIn('withoutLabels') }),
      ...(where !== null && where.conditions.list.length > 0 && { conditions: where.conditions }),
    },
    sort: sortOf(query),
    limit: query.limit ?? 50,
    page: query.page ?? 1,
    cursor: query.cursor ?? null,
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return request
}

function sortOf({ sortBy = 'createdAt', sortOrder: order = 'desc', sortLanguage }: TeamListQuery): ListRequest['sort'] {
  if (sortBy === 'createdAt' || sortBy === 'updatedAt') return { by: sortBy, order }
  // The schema knows its form: a column, or a custom field.
  return { by: sortBy as Arrangement['by'], order, language: sortLanguage ?? 'en' }
}
