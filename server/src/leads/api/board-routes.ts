import { type Static, Type } from 'typebox'
import { unprocessable } from '../../base/errors.ts'
import { count, leadStatus, unpaged } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed } from '../../team/team-schema.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import { arePlainConditions, filterCondition, noConditions } from '../search/filter-sql.ts'
import type { LeadFilter } from '../search/list-filter.ts'
import { parseListRequest, TeamListQuery } from '../search/list-request.ts'
import { resolveConditions } from '../search/sorted/conditions.ts'
import { leadsPath, leadUserOfMember } from './lead-request.ts'

const BoardQuery = Type.Pick(
  TeamListQuery,
  [
    'priority',
    'source',
    'adPlatform',
    'assignedTo',
    'createdFrom',
    'createdTo',
    'updatedFrom',
    'updatedTo',
    'importId',
    'labels',
    'withoutLabels',
    'where',
    'match',
  ],
  closed,
)

const sum = (description: string, example: number) => Type.Number({ minimum: 0, maximum: 1e21, description, example })

const BoardColumn = Type.Object({
  status: leadStatus('Status of the leads in the column.', { example: 'qualified' }),
  count: count('Exact number of leads.'),
  estimatedValue: sum('Sum of their `estimatedValue`.', 4500),
  actualValue: sum('Sum of their `actualValue`.', 0),
  value: sum('Sum of `actualValue`, or of `estimatedValue` for leads without one.', 4500),
})

type BoardColumn = Static<typeof BoardColumn>

/** Routes for the board: leads counted by status. The cards of a column are the list filtered by its status. */
export function boardRoutes(api: TeamApi, deps: LeadDeps): void {
  api.get(`${leadsPath}/board`, 'member', {
    operationId: 'countLeadsByStatus',
    summary: 'Count leads by status',
    description:
      "The workspace's statuses in their order, including empty ones, then other statuses of leads by name. Accepts the filters of the list except `status` and `search`; `where` must not use text or custom fields (422 `NOT_ON_BOARD`). For the cards of a column, list leads with its `status`.",
    query: BoardQuery,
    answers: { 200: Type.Object({ columns: Type.Array(BoardColumn, unpaged) }) },
    errors: [422],
    run: async ({ member, query }) => {
      const { filter } = parseListRequest(query)
      return { columns: await countBoard(deps, leadUserOfMember(member), filter) }
    },
  })
}

/**
 * Returns the exact number and value of leads per status. Workspace statuses come first, in their order and including
 * empty ones; statuses that only the API has set follow by name. Throws 422 for conditions on text or custom fields.
 */
export async function countBoard(
  { db, clock }: LeadDeps,
  { workspaceId }: LeadUser,
  filter: LeadFilter,
): Promise<BoardColumn[]> {
  const conditions = resolveConditions(filter.conditions ?? noConditions, clock.now())
  if (!arePlainConditions(conditions)) {
    throw unprocessable('The board does not support filters by text or custom field; use the list instead', {
      code: 'NOT_ON_BOARD',
    })
  }
  const [workspace, rows] = await Promise.all([
    db.sql<{ lead_statuses: string[] }[]>`
      select lead_statuses
      from workspaces
      where id = ${workspaceId}`,
    db.sql<BoardColumn[]>`
      select l.status,
        count(*)::integer as count,
        coalesce(sum(l.estimated_value), 0) as "estimatedValue",
        coalesce(sum(l.actual_value), 0) as "actualValue",
        coalesce(sum(coalesce(l.actual_value, l.estimated_value)), 0) as value
      from leads l
      where ${filterCondition(db.sql, workspaceId, filter, conditions)}
      group by l.status`,
  ])
  return sortColumns(workspace[0]?.lead_statuses ?? [], rows)
}

function sortColumns(statuses: readonly string[], rows: readonly BoardColumn[]): BoardColumn[] {
  const byStatus = new Map(rows.map((row) => [row.status, row]))
  const configured = statuses.map((status) => byStatus.get(status) ?? emptyColumn(status))
  const others = rows.filter(({ status }) => !statuses.includes(status))
  return [...configured, ...others.sort((a, b) => (a.status < b.status ? -1 : 1))]
}

const emptyColumn = (status: string): BoardColumn => ({
  status,
  count: 0,
  estimatedValue: 0,
  actualValue: 0,
  value: 0,
})
