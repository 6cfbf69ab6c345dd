import { Type } from 'typebox'
import { count, leadStatus, unpaged } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed } from '../../team/team-schema.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { TeamListQuery } from '../lead/team-list-query.ts'
import { readBoard } from '../search/board.ts'
import { readListRequest } from '../search/list-request.ts'
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
