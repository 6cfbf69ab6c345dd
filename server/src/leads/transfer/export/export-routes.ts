import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { leadSettingsOf } from '../../../base/lead-settings.ts'
import { oneOf } from '../../../base/route.ts'
import { itemsOfWork } from '../../../base/shares/work.ts'
import type { TeamApi } from '../../../team/team-api.ts'
import { closed } from '../../../team/team-schema.ts'
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
export function exportRoutes(api: TeamApi, deps: ListDeps): void {
  api.get('/api/team/v1/workspaces/:workspaceId/leads/export', 'owner', {
    operationId: 'exportLeads',
    summary: 'Export leads',
    description:
      'For owners: every lead that fits the filters of the list, oldest first, in clear, as a file that an import takes. CSV: UTF-8 with a byte order mark, commas, every cell in quotes, custom fields as columns; what a spreadsheet might run (=, +, - or @ at the beginning of a cell, of a line in it or after a semicolon or tab, also behind blanks and in wide letters) gets an apostrophe in front, which an import takes off. NDJSON: a lead a line, and `{"endOfExport":{"count":…}}` as the last one. `x-total-count` is the number of leads when it began. A file that was cut short ends in a connection error. The audit log keeps who exported how many.',
    query: ExportQuery,
    answers: { 200: fileAnswer('The leads.') },
    errors: [409, 422],
    run: async ({ member, query, reply }) => {
      const { format = 'csv', ...filters } = query
      const { workspaceId, workspace, actor } = member
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
