import { Type } from 'typebox'
import { memberOf, type TeamGuard } from '../base/member.ts'
import { type App, errors } from '../base/route.ts'
import { closed, teamRoute } from '../base/team-schema.ts'
import { readBoard } from './board.ts'
import type { LeadDeps } from './lead.ts'
import { readListRequest } from './list-request.ts'
import { ListQuery } from './schema.ts'
import { leadsPath, leadUserOf, ofWorkspace } from './team-request.ts'

const BoardQuery = Type.Pick(
  ListQuery,
  ['priority', 'source', 'adPlatform', 'assignedTo', 'createdFrom', 'createdTo', 'updatedFrom', 'updatedTo'],
  closed,
)

const BoardColumn = Type.Object({
  status: Type.String({ example: 'qualified' }),
  count: Type.Integer({ description: 'Exact count of leads.' }),
  estimatedValue: Type.Number({ description: 'Sum of their `estimatedValue`.', example: 4500 }),
  actualValue: Type.Number({ description: 'Sum of their `actualValue`.', example: 0 }),
})

/** Leads by status: the heads of the columns, whose cards are the list with that status. */
export function boardTeamRoute(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${leadsPath}/board`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute,
      summary: 'Count leads by status',
      description:
        "The workspace's statuses in its order, the empty ones too, then others that leads have, by name. Filters are those of the list, but for `status` and `search`; the cards of a column are the list with its `status`.",
      params: ofWorkspace,
      querystring: BoardQuery,
      response: { 200: Type.Object({ columns: Type.Array(BoardColumn) }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { filter } = readListRequest(request.query)
      return { columns: await readBoard(deps, leadUserOf(memberOf(request)), filter) }
    },
  })
}
