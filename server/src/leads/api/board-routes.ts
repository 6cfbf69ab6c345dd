import { type Static, Type } from 'typebox'
import { unprocessable } from '../../base/errors.ts'
import { count, leadStatus, unpaged } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed } from '../../team/team-schema.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import { arePlain, filterCondition, noConditions } from '../search/filter-sql.ts'
import type { LeadFilter } from '../search/list-filter.ts'
import { readListRequest, TeamListQuery } from '../search/list-request.ts'
import { resolved } from '../search/sorted/conditions.ts'
import { leadsPath, leadUserOf } from './lead-request.ts'

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
  status: leadStatus('Of the leads of the column.', { example: 'qualified' }),
  count: count('Exact count of leads.'),
  estimatedValue: sum('Sum of their `estimatedValue`.', 4500),
  actualValue: sum('Sum of their `actualValue`.', 0),
  value: sum('Sum of what each is worth: its `actualValue`, or its `estimatedValue` while it has none.', 4500),
})

type BoardColumn = Static<typeof BoardColumn>

/** Leads by status: the heads of the columns, whose cards are the list with that status. */
export function boardRoutes(api: TeamApi, deps: LeadDeps): void {
  api.get(`${leadsPath}/board`, 'member', {
    operationId: 'countLeadsByStatus',
    summary: 'Count leads by status',
    description:
      "The workspace's statuses in its order, the empty ones too, then others that leads have, by name. Filters are those of the list, but for `status` and `search`; of `where`, those that look at no text (422 `NOT_ON_BOARD`); the cards of a column are the list with its `status`.",
    query: BoardQuery,
    answers: { 200: Type.Object({ columns: Type.Array(BoardColumn, unpaged) }) },
    errors: [422],
    run: async ({ member, query }) => {
      const { filter } = readListRequest(query)
      return { columns: await readBoard(deps, leadUserOf(member), filter) }
    },
  })
}

/**
 * How many leads have each status, and what they are worth, exactly. The statuses of the workspace come first, in its
 * order and also when empty; those that only the API has given follow by name.
 */
export async function readBoard(
  { db, clock }: LeadDeps,
  { workspaceId }: LeadUser,
  filter: LeadFilter,
): Promise<BoardColumn[]> {
  const conditions = resolved(filter.conditions ?? noConditions, clock.now())
  if (!arePlain(conditions)) {
    throw unprocessable('The board counts no leads by texts and custom fields: look at these in the table', {
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
  return inOrder(workspace[0]?.lead_statuses ?? [], rows)
}

function inOrder(statuses: readonly string[], rows: readonly BoardColumn[]): BoardColumn[] {
  const byStatus = new Map(rows.map((row) => [row.status, row]))
  const own = statuses.map((status) => byStatus.get(status) ?? emptyColumn(status))
  const others = rows.filter(({ status }) => !statuses.includes(status))
  return [...own, ...others.sort((a, b) => (a.status < b.status ? -1 : 1))]
}

const emptyColumn = (status: string): BoardColumn => ({
  status,
  count: 0,
  estimatedValue: 0,
  actualValue: 0,
  value: 0,
})
