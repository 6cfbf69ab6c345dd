import { type Static, Type } from 'typebox'
import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { unprocessable } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { type App, nullable, timestamp, titled } from '../../base/route.ts'
import { count, cursor, leadStatus, page, unpaged } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed, workspaceParams } from '../../team/team-schema.ts'
import { bulkChangeTeamRoutes } from '../bulk/bulk-change-routes.ts'
import type { BulkDeps } from '../bulk/run-bulk-change.ts'
import { leadFieldTeamRoutes } from '../fields/field-routes.ts'
import { withMemberRules, withNewLeadRules } from '../fields/lead-fields.ts'
import { labelRoutes, readLabels } from '../labels/lead-labels.ts'
import { decryptLead, type LeadRow } from '../lead/encrypted-lead.ts'
import { makeLeadReader } from '../lead/find-lead.ts'
import { parseLeadPatch } from '../lead/input.ts'
import type { Lead, LeadDeps, ListedLead } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { leadColumns } from '../lead/queries.ts'
import { LeadChanges, LeadDetail, LeadId, NewLead, NoQuery, TeamLead, TeamLeadList } from '../lead/schema.ts'
import type { MergeDeps } from '../merge/merge-records.ts'
import { mergeTeamRoutes } from '../merge/merge-routes.ts'
import { arePlainConditions, filterCondition, noConditions } from '../search/filter-sql.ts'
import { type LeadPage, type ListDeps, listLeads } from '../search/list.ts'
import { isTime, listQueryError, malformedCursor } from '../search/list-cursor.ts'
import type { LeadFilter } from '../search/list-filter.ts'
import { parseListRequest, TeamListQuery } from '../search/list-request.ts'
import { resolveConditions } from '../search/sorted/conditions.ts'
import { attributionRoute, leadSourceRoutes, type SourceTeamDeps } from '../sources/source-routes.ts'
import { timelineRoutes } from '../timeline/lead-timeline-routes.ts'
import type { TimelineDeps } from '../timeline/read-timeline.ts'
import { exportRoutes } from '../transfer/export/export.ts'
import { importTeamRoutes } from '../transfer/import/import-routes.ts'
import { makeLeadCreator } from '../write/create.ts'
import { restorableMs, restoreLead } from '../write/restore.ts'
import { deleteLead, updateLead } from '../write/update.ts'
import { bulkRoutes } from './bulk-routes.ts'
import type { ConsentDeps, ConversationDeps } from './lead-detail-routes.ts'
import { consentRoutes, conversationRoutes, duplicateRoutes, historyRoutes } from './lead-detail-routes.ts'
import { leadsPath, leadUserOfMember, ofLead } from './lead-request.ts'

const oneLead = Type.Object({ lead: LeadDetail })

export interface LeadTeamDeps
  extends ListDeps,
    ConversationDeps,
    ConsentDeps,
    TimelineDeps,
    BulkDeps,
    MergeDeps,
    SourceTeamDeps {}

/** Registers the lead routes for people: those of the leads interface, and those of the team API alone. */
export function leadTeamRoutes(app: App, deps: LeadTeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Team leads')
  readRoutes(api, deps)
  changeRoutes(api, deps)
  trashRoutes(api, deps)
  boardRoutes(api, deps)
  bulkRoutes(api, deps)
  bulkChangeTeamRoutes(app, deps, guard)
  duplicateRoutes(api, deps)
  mergeTeamRoutes(app, deps, guard)
  historyRoutes(api, deps)
  labelRoutes(api, deps)
  conversationRoutes(api, deps)
  consentRoutes(api, deps)
  timelineRoutes(api, deps)
  importTeamRoutes(app, deps, guard)
  exportRoutes(api, deps)
  leadFieldTeamRoutes(app, deps, guard)
  attributionRoute(api, deps)
  leadSourceRoutes(teamApi(app, guard, 'Lead sources'), deps)
}

function readRoutes(api: TeamApi, deps: ListDeps): void {
  api.get(leadsPath, 'member', {
    operationId: 'listLeadsAsMember',
    summary: 'List leads',
    description:
      'Filters, search and cursor work as in the leads interface. Additionally sorts by any column and filters by conditions on any column. `total` is exact.',
    query: TeamListQuery,
    answers: { 200: TeamLeadList },
    errors: [409, 422],
    options: { schemaErrorFormatter: listQueryError },
    run: async ({ member, query }) => {
      const { leads, total, nextCursor } = await listLeads(deps, leadUserOfMember(member), parseListRequest(query))
      const ids = leads.map(({ id }) => id)
      const labels = await readLabels(deps.db.sql, member.workspaceId, ids)
      return { leads: leads.map((lead) => presentForTeam(lead, labels)), total, nextCursor }
    },
  })
  const createLead = makeLeadCreator(deps)
  api.post(leadsPath, 'member', {
    operationId: 'createLeadAsMember',
    summary: 'Create a lead',
    description:
      'Same fields, defaults, quota and event as in the leads interface. Custom fields defined by the workspace are validated: 422 names the field and its format.',
    body: NewLead,
    answers: { 201: Type.Object({ lead: TeamLead }) },
    errors: [409, 422, 429],
    run: async ({ member, body }) => {
      const user = leadUserOfMember(member)
      const { patch, issues } = parseLeadPatch(body, [], { ...user, at: '' })
      const lead = await createLead(user, await withNewLeadRules(deps.db.sql, user, patch), issues)
      return { lead: presentForTeam(lead, noLabels) }
    },
  })
  const readLead = makeLeadReader(deps)
  api.get(`${leadsPath}/:identifier`, 'member', {
    operationId: 'getLeadAsMember',
    summary: 'Read a lead',
    description: 'With its custom fields and labels.',
    ...ofLead,
    answers: { 200: Type.Object({ lead: TeamLead }) },
    run: async ({ member, params }) => {
      const user = leadUserOfMember(member)
      const lead = await readLead(user, params.identifier)
      return { lead: presentForTeam(lead, await readLabels(deps.db.sql, user.workspaceId, [lead.id])) }
    },
  })
}

const noLabels: ReadonlyMap<string, string[]> = new Map()

const presentForTeam = (lead: Lead | ListedLead, labels: ReadonlyMap<string, string[]>) => ({
  ...presentDetail(lead, false),
  labelIds: labels.get(lead.id) ?? [],
})

function changeRoutes(api: TeamApi, deps: LeadDeps): void {
  api.patch(`${leadsPath}/:identifier`, 'member', {
    operationId: 'updateLeadAsMember',
    summary: 'Change fields of a lead',
    description:
      'Send only the fields to change; null clears. A request that changes nothing writes and emits nothing. Custom fields defined by the workspace are validated: 422 names the field and its format.',
    ...ofLead,
    body: LeadChanges,
    answers: { 200: oneLead },
    errors: [409, 422],
    run: async ({ member, params, body }) => {
      const user = leadUserOfMember(member)
      const { patch, issues } = parseLeadPatch(body, [], { ...user, at: '' })
      const parsed = { patch: await withMemberRules(deps.db.sql, user, patch), issues }
      const { lead } = await updateLead(deps, user, params.identifier, parsed)
      return { lead: presentDetail(lead, false) }
    },
  })
  api.delete(`${leadsPath}/:identifier`, 'member', {
    operationId: 'deleteLeadAsMember',
    summary: 'Delete a lead',
    description: 'Hides the lead at once. It can be restored for 30 days.',
    ...ofLead,
    run: ({ member, params }) => deleteLead(deps, leadUserOfMember(member), params.identifier),
  })
  api.post(`${leadsPath}/:id/restore`, 'member', {
    operationId: 'restoreLeadAsMember',
    summary: 'Restore a deleted lead',
    description:
      'Within 30 days of its deletion. 409 with `data.field` if its externalRef or uniqueCode has been taken since.',
    params: Type.Object({ ...workspaceParams, ...LeadId.properties }),
    query: NoQuery,
    answers: { 200: oneLead },
    errors: [409],
    run: async ({ member, params }) => {
      const lead = await restoreLead(deps, leadUserOfMember(member), params.id)
      return { lead: presentDetail(lead, false) }
    },
  })
}

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
function boardRoutes(api: TeamApi, deps: LeadDeps): void {
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
      return { columns: await countBoard(deps, member.workspaceId, filter) }
    },
  })
}

/**
 * Returns the exact number and value of leads per status. Workspace statuses come first, in their order and including
 * empty ones; statuses that only the API has set follow by name. Throws 422 for conditions on text or custom fields.
 */
async function countBoard({ db, clock }: LeadDeps, workspaceId: string, filter: LeadFilter): Promise<BoardColumn[]> {
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

const emptyColumn = (status: string): BoardColumn => {
  return { status, count: 0, estimatedValue: 0, actualValue: 0, value: 0 }
}

/** Returns deleted leads that can still be restored, most recently deleted first; ids break ties. */
async function listTrash(deps: LeadDeps, workspaceId: string, limit: number, cursor: string | null): Promise<LeadPage> {
  const { db, keyStore, clock } = deps
  const after = cursor === null ? null : parseTrashCursor(cursor)
  const keyring = await keyStore.keyring(workspaceId)
  const deletedAfter = new Date(clock.now().getTime() - restorableMs)
  const condition = db.sql`
    l.workspace_id = ${workspaceId}
      and l.deleted_at > ${deletedAfter}
      and l.purged_at is null`
  const [rows, [totalRow]] = await Promise.all([
    db.sql<(LeadRow & { deletedAt: Date })[]>`
      select ${leadColumns(db.sql)}
      from leads l
      where ${condition}
        ${after === null ? db.sql`` : db.sql`and (l.deleted_at, l.id) < (${after.time}::timestamptz, ${after.id}::uuid)`}
      order by l.deleted_at desc, l.id desc
      limit ${limit + 1}`,
    db.sql<{ total: number }[]>`
      select count(*)::integer as total
      from leads l
      where ${condition}`,
  ])
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    leads: shown.map((row) => decryptLead(keyring, row)),
    total: totalRow?.total ?? 0,
    nextCursor: last === undefined ? null : encodeCursor([trashCursor, last.deletedAt.getTime(), last.id]),
  }
}

const trashCursor = 'trash'

function parseTrashCursor(text: string): { time: Date; id: string } {
  const [of, time, id, extra] = decodeCursor(text) ?? []
  if (of !== trashCursor || !isTime(time) || typeof id !== 'string' || !isUuid(id) || extra !== undefined)
    throw malformedCursor()
  return { time: new Date(time), id }
}

const TrashedLead = titled('DeletedLead', {
  ...LeadDetail.properties,
  deletedAt: timestamp('When the lead was deleted.'),
  destroyedAt: timestamp('When its personal data is destroyed. Until then it can be restored.'),
})

const TrashQuery = Type.Object(
  {
    cursor: Type.Optional(cursor('The `nextCursor` of the previous page, unchanged.')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Leads per page. Default 50.' })),
  },
  closed,
)

function trashRoutes(api: TeamApi, deps: LeadDeps): void {
  api.get(`${leadsPath}/trash`, 'member', {
    operationId: 'listDeletedLeads',
    summary: 'List deleted leads',
    description:
      'Leads that can be restored, most recently deleted first. Read a lead whose uniqueCode is `trash` by its id.',
    query: TrashQuery,
    answers: {
      200: Type.Object({
        leads: Type.Array(TrashedLead, page),
        total: count('Exact number of leads that can be restored.'),
        nextCursor: nullable(cursor('Send it as `cursor` for the next page; null at the end.')),
      }),
    },
    options: { schemaErrorFormatter: listQueryError },
    run: async ({ member, query }) => {
      const { limit = 50, cursor = null } = query
      const page = await listTrash(deps, member.workspaceId, limit, cursor)
      return { ...page, leads: page.leads.flatMap(presentTrashed) }
    },
  })
}

function presentTrashed(lead: Lead) {
  const { deletedAt } = lead
  if (deletedAt === null) return []
  const destroyedAt = new Date(deletedAt.getTime() + restorableMs).toISOString()
  return [{ ...presentDetail(lead), deletedAt: deletedAt.toISOString(), destroyedAt }]
}
