import { Type } from 'typebox'
import type { App } from '../../base/route.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { workspaceParams } from '../../team/team-schema.ts'
import { bulkChangeTeamRoutes } from '../bulk/bulk-change-routes.ts'
import type { BulkDeps } from '../bulk/run-bulk-change.ts'
import { leadFieldTeamRoutes } from '../fields/field-routes.ts'
import { withMemberRules, withNewLeadRules } from '../fields/lead-fields.ts'
import { labelRoutes, readLabels } from '../labels/lead-labels.ts'
import { makeLeadReader } from '../lead/find-lead.ts'
import { parseLeadPatch } from '../lead/input.ts'
import type { Lead, LeadDeps, ListedLead } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { LeadChanges, LeadDetail, LeadId, NewLead, NoQuery, TeamLead, TeamLeadList } from '../lead/schema.ts'
import type { MergeDeps } from '../merge/merge-records.ts'
import { mergeTeamRoutes } from '../merge/merge-routes.ts'
import { type ListDeps, listLeads } from '../search/list.ts'
import { listQueryError } from '../search/list-cursor.ts'
import { parseListRequest, TeamListQuery } from '../search/list-request.ts'
import { attributionRoute, leadSourceRoutes, type SourceTeamDeps } from '../sources/source-routes.ts'
import { timelineRoutes } from '../timeline/lead-timeline-routes.ts'
import type { TimelineDeps } from '../timeline/read-timeline.ts'
import { exportRoutes } from '../transfer/export/export.ts'
import { importTeamRoutes } from '../transfer/import/import-routes.ts'
import { makeLeadCreator } from '../write/create.ts'
import { restoreLead } from '../write/restore.ts'
import { deleteLead, updateLead } from '../write/update.ts'
import { boardRoutes } from './board-routes.ts'
import { bulkRoutes } from './bulk-routes.ts'
import { type ConsentDeps, consentRoutes } from './consent-routes.ts'
import { type ConversationDeps, conversationRoutes, duplicateRoutes, historyRoutes } from './lead-detail-routes.ts'
import { leadPathParams, leadsPath, leadUserOfMember } from './lead-request.ts'
import { trashRoutes } from './trash-routes.ts'

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
      const labels = await readLabels(
        deps.db.sql,
        member.workspaceId,
        leads.map(({ id }) => id),
      )
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
    params: leadPathParams,
    query: NoQuery,
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
    params: leadPathParams,
    query: NoQuery,
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
    params: leadPathParams,
    query: NoQuery,
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
