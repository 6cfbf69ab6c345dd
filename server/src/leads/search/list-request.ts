import { type Static, Type } from 'typebox'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { oneOf } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { parseIsoTime } from '../../base/time.ts'
import { ListQuery } from '../lead/schema.ts'
import type { ListRequest } from './list.ts'
import { parseConditions } from './sorted/conditions.ts'
import type { SortOrder } from './sorted/order.ts'

const described = (description: string, options: object) => Type.String({ description, ...options })

const labelIdList = (description: string) =>
  Type.String({
    minLength: 36,
    maxLength: 20 * 37 - 1,
    pattern: '^[0-9a-fA-F-]{36}(,[0-9a-fA-F-]{36}){0,19}$',
    description: `${description} At most 20 ids, separated by commas.`,
  })

/** Query of a list for people, with more filters and orders than the leads interface. */
export const TeamListQuery = Type.Object(
  {
    ...ListQuery.properties,
    importId: Type.Optional(uuid('Leads that this import created, changed, or found unchanged.')),
    labels: Type.Optional(labelIdList('Leads that have any of these labels.')),
    withoutLabels: Type.Optional(labelIdList('Leads that have none of these labels.')),
    sortBy: Type.Optional(
      described(
        'Default `createdAt`. Any column except notes and labels, or `field:<key>` for a custom field. Texts are sorted by the rules of `sortLanguage`, choices in their defined order, assignees by name; empty values are last in both directions. Names, e-mails, phones, codes and custom fields are sorted in memory: 409 `LIST_NOT_READY` while the leads are being loaded, 422 `LIST_TOO_LARGE` if they do not fit.',
        {
          maxLength: 50,
          pattern:
            '^(?:name|email|phone|uniqueCode|externalRef|status|priority|source|adPlatform|assignedTo|estimatedValue|actualValue|createdAt|updatedAt|field:[a-z][a-z0-9_]{0,39})$',
          example: 'name',
        },
      ),
    ),
    sortLanguage: Type.Optional(
      oneOf(['en', 'es', 'pt'], { description: 'Language whose sorting rules apply. Default `en`.' }),
    ),
    where: Type.Optional(
      described(
        'At most 20 conditions in addition to the other filters, as `column.operator.value.value`, separated by `;`. Percent-encode `.`, `;` and `%` in values. Columns are those of `sortBy`, `notes` and `labels` (by ids). Operators: `is`, `isNot` (one of the values), `contains`, `from`, `to`, `between`, `last` (days), `empty`, `notEmpty`. The available operators depend on the column; a custom field compares numbers with numbers and dates with dates.',
        { maxLength: 8000, example: 'estimatedValue.between.100.500;email.notEmpty' },
      ),
    ),
    match: Type.Optional(
      oneOf(['all', 'any'], { description: 'Whether all or any conditions of `where` must match. Default `all`.' }),
    ),
  },
  { additionalProperties: false },
)
/** Filters of the list, for operations on all matching leads. */
export const listFilters = Type.Omit(TeamListQuery, [
  'cursor',
  'limit',
  'page',
  'sortBy',
  'sortOrder',
  'sortLanguage',
]).properties
export type TeamListQuery = Static<typeof TeamListQuery>

/** Parses the query of a list; checks times, statuses, labels and conditions. Throws 400. */
export function parseListRequest(query: TeamListQuery): ListRequest {
  const issues: Issue[] = []
  const time = (name: 'createdFrom' | 'createdTo' | 'updatedFrom' | 'updatedTo'): Date | null => {
    const text = query[name]
    if (text === undefined) return null
    const date = parseIsoTime(text)
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
  const where = query.where === undefined ? null : parseConditions(query.where, query.match ?? 'all')
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
    // The schema checks the format: a column, or a custom field.
    sort: {
      by: (query.sortBy ?? 'createdAt') as SortOrder['by'],
      order: query.sortOrder ?? 'desc',
      ...(query.sortLanguage && { language: query.sortLanguage }),
    },
    limit: query.limit ?? 50,
    page: query.page ?? 1,
    cursor: query.cursor ?? null,
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return request
}
