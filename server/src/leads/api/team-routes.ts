import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { done, teamRoute, workspaceParams } from '../../team/team-schema.ts'
import type { BulkDeps } from '../bulk/run.ts'
import { bulkChangeTeamRoutes } from '../bulk/team-routes-bulk-changes.ts'
import { fitChange, fitNew } from '../fields/fit.ts'
import { leadFieldTeamRoutes } from '../fields/team-routes-fields.ts'
import { readLabels } from '../labels/lead-labels.ts'
import { labelsTeamRoute } from '../labels/team-routes-labels.ts'
import { leadReader } from '../lead/identify.ts'
import { readLeadPatch } from '../lead/input.ts'
import type { Lead, LeadDeps } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { LeadChanges, LeadDetail, LeadId, NewLead, NoQuery, TeamLead, TeamLeadList } from '../lead/schema.ts'
import { TeamListQuery } from '../lead/team-list-query.ts'
import type { MergeDeps } from '../merge/merges.ts'
import { listLeads } from '../search/list.ts'
import { refuseList } from '../search/list-cursor.ts'
import type { ListDeps } from '../search/list-page.ts'
import { readListRequest } from '../search/list-request.ts'
import type { TimelineDeps } from '../timeline/read-timeline.ts'
import { timelineTeamRoutes } from '../timeline/team-routes-timeline.ts'
import { exportTeamRoutes } from '../transfer/export/team-routes-export.ts'
import { importFileTeamRoutes } from '../transfer/import/team-routes-import-files.ts'
import { importTeamRoutes } from '../transfer/import/team-routes-imports.ts'
import { leadCreator } from '../write/create.ts'
import { removeLead } from '../write/remove.ts'
import { restoreLead } from '../write/restore.ts'
import { updateLead } from '../write/update.ts'
import { leadsPath, leadUserOf, ofLead, ofWorkspace } from './team-request.ts'
import { boardTeamRoute } from './team-routes-board.ts'
import { bulkTeamRoute } from './team-routes-bulk.ts'
import { type ConversationDeps, conversationsTeamRoute } from './team-routes-conversations.ts'
import { duplicatesTeamRoutes } from './team-routes-duplicates.ts'
import { historyTeamRoute } from './team-routes-history.ts'
import { mergeTeamRoutes } from './team-routes-merges.ts'
import { trashTeamRoute } from './team-routes-trash.ts'

const oneLead = Type.Object({ lead: LeadDetail })

export interface LeadTeamDeps extends ListDeps, ConversationDeps, TimelineDeps, BulkDeps, MergeDeps {}

/** Leads for people: the verbs of the leads interface on behalf of a member, and what only the team has. */
export function leadTeamRoutes(app: App, deps: LeadTeamDeps, guard: TeamGuard): void {
  for (const serve of [serveList, serveCreate, serveDetail, serveChange, serveRemove, serveRestore]) {
    serve(app, deps, guard)
  }
  trashTeamRoute(app, deps, guard)
  boardTeamRoute(app, deps, guard)
  bulkTeamRoute(app, deps, guard)
  bulkChangeTeamRoutes(app, deps, guard)
  duplicatesTeamRoutes(app, deps, guard)
  mergeTeamRoutes(app, deps, guard)
  historyTeamRoute(app, deps, guard)
  labelsTeamRoute(app, deps, guard)
  conversationsTeamRoute(app, deps, guard)
  timelineTeamRoutes(app, deps, guard)
  importTeamRoutes(app, deps, guard)
  importFileTeamRoutes(app, deps, guard)
  exportTeamRoutes(app, deps, guard)
  leadFieldTeamRoutes(app, deps, guard)
}

function serveList(app: App, deps: ListDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: leadsPath,
    onRequest: guard.member('member'),
    schemaErrorFormatter: refuseList,
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'listLeadsAsMember',
      summary: 'List leads',
      description:
        'Filters, search and cursor are those of the leads interface, with any column to sort by and conditions on any of them. `total` is exact.',
      params: ofWorkspace,
      querystring: TeamListQuery,
      response: { 200: TeamLeadList, ...errors(400, 401, 403, 404, 409, 422) },
    },
    handler: async (request) => {
      const { leads, total, nextCursor } = await listLeads(
        deps,
        leadUserOf(memberOf(request)),
        readListRequest(request.query),
      )
      const labels = await readLabels(
        deps.db.sql,
        memberOf(request).workspaceId,
        leads.map(({ id }) => id),
      )
      return { leads: leads.map((lead) => presentForTeam(lead, labels)), total, nextCursor }
    },
  })
}

function serveCreate(app: App, deps: LeadDeps, guard: TeamGuard): void {
  const createLead = leadCreator(deps)
  app.route({
    method: 'POST',
    url: leadsPath,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'createLeadAsMember',
      summary: 'Create a lead',
      description:
        'As in the leads interface: the same fields, defaults, quota and event. Custom fields that the workspace defines are held to it: 422 names the field and says what fits.',
      params: ofWorkspace,
      body: NewLead,
      response: {
        201: Type.Object({ lead: TeamLead }),
        ...errors(400, 401, 403, 404, 409, 413, 415, 422, 429),
      },
    },
    handler: async (request, reply) => {
      const user = leadUserOf(memberOf(request))
      const { patch, issues } = readLeadPatch(request.body, [], { ...user, at: '' })
      const lead = await createLead(user, await fitNew(deps.db.sql, user, patch), issues)
      return reply.code(201).send({ lead: presentForTeam(lead, noLabels) })
    },
  })
}

function serveDetail(app: App, deps: LeadDeps, guard: TeamGuard): void {
  const readLead = leadReader(deps)
  app.route({
    method: 'GET',
    url: `${leadsPath}/:identifier`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'getLeadAsMember',
      summary: 'Read a lead',
      description: 'With its custom fields and labels.',
      params: ofLead,
      querystring: NoQuery,
      response: { 200: Type.Object({ lead: TeamLead }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const user = leadUserOf(memberOf(request))
      const lead = await readLead(user, request.params.identifier)
      return { lead: presentForTeam(lead, await readLabels(deps.db.sql, user.workspaceId, [lead.id])) }
    },
  })
}

const noLabels: ReadonlyMap<string, string[]> = new Map()

const presentForTeam = (lead: Lead, labels: ReadonlyMap<string, string[]>) => ({
  ...presentDetail(lead, false),
  labelIds: labels.get(lead.id) ?? [],
})

function serveChange(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${leadsPath}/:identifier`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'updateLeadAsMember',
      summary: 'Change fields of a lead',
      description:
        'Send only what changes; null clears. What changes nothing writes nothing and emits nothing. Custom fields that the workspace defines are held to it: 422 names the field and says what fits.',
      params: ofLead,
      querystring: NoQuery,
      body: LeadChanges,
      response: { 200: oneLead, ...errors(400, 401, 403, 404, 409, 413, 415, 422) },
    },
    handler: async (request) => {
      const user = leadUserOf(memberOf(request))
      const { patch, issues } = readLeadPatch(request.body, [], { ...user, at: '' })
      const read = { patch: await fitChange(deps.db.sql, user, patch), issues }
      const { lead } = await updateLead(deps, user, request.params.identifier, read)
      return { lead: presentDetail(lead, false) }
    },
  })
}

function serveRemove(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${leadsPath}/:identifier`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'deleteLeadAsMember',
      summary: 'Delete a lead',
      description: 'Hidden from every list at once, restorable for 30 days.',
      params: ofLead,
      querystring: NoQuery,
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      await removeLead(deps, leadUserOf(memberOf(request)), request.params.identifier)
      return { success: true }
    },
  })
}

function serveRestore(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${leadsPath}/:id/restore`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'restoreLeadAsMember',
      summary: 'Restore a deleted lead',
      description:
        'Within 30 days of its deletion; 409 with `data.field` when its externalRef or uniqueCode was taken meanwhile.',
      params: Type.Object({ ...workspaceParams, ...LeadId.properties }),
      querystring: NoQuery,
      response: { 200: oneLead, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      const lead = await restoreLead(deps, leadUserOf(memberOf(request)), request.params.id)
      return { lead: presentDetail(lead, false) }
    },
  })
}
