import { Type } from 'typebox'
import { type App, errors, nullable, timestamp, titled } from '../../base/route.ts'
import { count, cursor, page } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, teamRoute } from '../../team/team-schema.ts'
import type { Lead, LeadDeps } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { LeadDetail } from '../lead/schema.ts'
import { refuseList } from '../search/list-cursor.ts'
import { destroyedAt, listTrash } from '../write/trash.ts'
import { leadsPath, leadUserOf, ofWorkspace } from './team-request.ts'

const TrashedLead = titled('DeletedLead', {
  ...LeadDetail.properties,
  deletedAt: timestamp('When it was deleted.'),
  destroyedAt: timestamp('From when on it cannot be restored: its personal data is destroyed.'),
})

const TrashQuery = Type.Object(
  {
    cursor: Type.Optional(cursor('The `nextCursor` of the page before, unchanged.')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Leads a page. Default 50.' })),
  },
  closed,
)

/** The leads that were deleted and can be restored. */
export function trashTeamRoute(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${leadsPath}/trash`,
    onRequest: guard.member('member'),
    schemaErrorFormatter: refuseList,
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'listDeletedLeads',
      summary: 'List deleted leads',
      description:
        'Those that can be restored, the last deleted first. A lead whose uniqueCode is `trash` is read by its id.',
      params: ofWorkspace,
      querystring: TrashQuery,
      response: {
        200: Type.Object({
          leads: Type.Array(TrashedLead, page),
          total: count('Exact count of leads that can be restored.'),
          nextCursor: nullable(cursor('Send it as `cursor` for the next page; null at the end.')),
        }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request) => {
      const { limit = 50, cursor = null } = request.query
      const page = await listTrash(deps, leadUserOf(memberOf(request)), { limit, cursor })
      return { ...page, leads: page.leads.flatMap(presentTrashed) }
    },
  })
}

function presentTrashed(lead: Lead) {
  const { deletedAt } = lead
  if (deletedAt === null) return []
  return [
    { ...presentDetail(lead), deletedAt: deletedAt.toISOString(), destroyedAt: destroyedAt(deletedAt).toISOString() },
  ]
}
