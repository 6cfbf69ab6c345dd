import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { leadSettingsOf } from '../../../base/lead-settings.ts'
import { type App, errors, oneOf } from '../../../base/route.ts'
import { itemsOfWork } from '../../../base/shares/work.ts'
import { memberOf, type TeamGuard } from '../../../team/member.ts'
import { closed, teamRoute, workspaceParams } from '../../../team/team-schema.ts'
import { TeamListQuery } from '../../lead/team-list-query.ts'
import type { ListDeps } from '../../search/list-page.ts'
import { readListRequest } from '../../search/list-request.ts'
import { fileAnswer } from '../file/file-answer.ts'
import { exportLeads } from './export.ts'

const {
  cursor: _cursor,
  limit: _limit,
  page: _page,
  sortBy: _by,
  sortOrder: _order,
  sortLanguage: _language,
  ...filters
} = TeamListQuery.properties

const ExportQuery = Type.Object(
  {
    format: Type.Optional(oneOf(['csv', 'ndjson'], { description: 'Default `csv`.' })),
    ...filters,
  },
  closed,
)

/** The export of leads, for owners. */
export function exportTeamRoutes(app: App, deps: ListDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: '/api/team/v1/workspaces/:workspaceId/leads/export',
    onRequest: guard.member('owner'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'exportLeads',
      summary: 'Export leads',
      description:
        'For owners: every lead that fits the filters of the list, oldest first, in clear, as a file that an import takes. CSV: UTF-8 with a byte order mark, commas, every cell in quotes, custom fields as columns; what a spreadsheet might run (=, +, - or @ at the beginning of a cell, of a line in it or after a semicolon or tab, also behind blanks and in wide letters) gets an apostrophe in front, which an import takes off. NDJSON: a lead a line, and `{"endOfExport":{"count":…}}` as the last one. `x-total-count` is the number of leads when it began. A file that was cut short ends in a connection error. The audit log keeps who exported how many.',
      params: Type.Object(workspaceParams),
      querystring: ExportQuery,
      response: { 200: fileAnswer('The leads.'), ...errors(400, 401, 403, 404, 409, 422) },
    },
    handler: async (request, reply) => {
      const { format = 'csv', ...filters } = request.query
      const { workspaceId, workspace, actor } = memberOf(request)
      const user = { ...leadSettingsOf(workspace), workspaceId, masked: false, actor }
      const { total, file } = await exportLeads(deps, user, readListRequest(filters).filter, format)
      return reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson')
        .header('content-disposition', `attachment; filename="leads.${format}"`)
        .header('x-total-count', String(total))
        .send(Readable.from(itemsOfWork(file)))
    },
  })
}
