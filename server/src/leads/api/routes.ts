import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { callerOf } from '../../auth/api-keys/caller.ts'
import type { LookupLimitOf } from '../../auth/rate-limit/lookup-limit.ts'
import { ApiError } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { fieldsFromParameters } from '../lead/custom-fields.ts'
import { makeLeadReader } from '../lead/find-lead.ts'
import { parseBulkItem, parseLeadPatch, parseUpsert } from '../lead/input.ts'
import { type LeadDeps, type LeadUser, leadUserOfKey } from '../lead/lead.ts'
import { presentDetail, presentLead, presentUpdated } from '../lead/present.ts'
import * as schema from '../lead/schema.ts'
import { type ListDeps, listLeads } from '../search/list.ts'
import { listQueryError } from '../search/list-cursor.ts'
import { parseListRequest } from '../search/list-request.ts'
import { makeLeadCreator } from '../write/create.ts'
import { restoreLead } from '../write/restore.ts'
import { deleteLead, updateLead } from '../write/update.ts'
import { makeLeadUpserter, upsertLeads } from '../write/upsert.ts'
import { presentBulk } from './bulk-routes.ts'

interface LeadsGuard {
  /** Admits keys that have any of these scopes. */
  leads(...scopes: ('leads.read' | 'leads.write' | 'leads.delete' | 'leads.bulk')[]): onRequestHookHandler
  /** Admits `leads.delete`, and `leads.write` during the transition window. */
  deleteLeads(): onRequestHookHandler
  lookupLimits: LookupLimitOf
}

const commonErrors = [400, 401, 403, 429, 500, 503] as const

/** Returns the options of a route of the leads interface: who may call it, and its documentation. */
const leadRoute = <S extends object>(onRequest: onRequestHookHandler, schema: S) => ({
  onRequest,
  schema: { tags: ['Leads'], security: [{ apiKey: [] }], ...schema },
})

/** Registers the leads interface. Each route is validated, typed and documented by its schema. */
export function leadRoutes(app: App, deps: ListDeps, guard: LeadsGuard): void {
  readRoutes(app, deps, guard)
  writeRoutes(app, deps, guard)
  deletionRoutes(app, deps, guard)
  upsertRoutes(app, deps, guard)
}

function readRoutes(app: App, deps: ListDeps, guard: LeadsGuard): void {
  const readLead = makeLeadReader(deps)
  app.get(
    '/api/v1/leads',
    {
      schemaErrorFormatter: listQueryError,
      ...leadRoute(guard.leads('leads.read'), {
        operationId: 'listLeads',
        summary: 'List leads',
        description:
          'Scope `leads.read`. Filters are combined; the order is stable, with `id` as tie-breaker. To read all pages, send `nextCursor` until it is null. For a key with masked phones, `search` ignores phones, and names and references that are phones. `total` is exact; pages reached by cursor may repeat the total of the first page for 60 s.',
        querystring: schema.ListQuery,
        response: { 200: schema.LeadList, ...errors(...commonErrors) },
      }),
    },
    async (request) => {
      const user = userOf(request, guard)
      const listRequest = parseListRequest(request.query)
      const { leads, total, nextCursor } = await listLeads(deps, user, listRequest)
      const { cursor, limit, page } = listRequest
      return {
        success: true,
        data: leads.map((lead) => presentLead(lead, user.masked)),
        pagination: {
          page: cursor === null ? page : null,
          limit,
          total,
          totalPages: cursor === null ? Math.ceil(total / limit) : null,
          cursor,
          nextCursor,
        },
      }
    },
  )
  app.get(
    '/api/v1/leads/:identifier',
    leadRoute(guard.leads('leads.read'), {
      operationId: 'getLead',
      summary: 'Read one lead',
      description: 'Scope `leads.read`. Includes `customFields` and `customFieldValues` if the lead has custom fields.',
      params: schema.Identifier,
      querystring: schema.NoQuery,
      response: { 200: schema.LeadFound, ...errors(...commonErrors, 404) },
    }),
    async (request) => {
      const user = userOf(request, guard)
      return { success: true, data: presentDetail(await readLead(user, request.params.identifier), user.masked) }
    },
  )
}

function writeRoutes(app: App, deps: LeadDeps, guard: LeadsGuard): void {
  const createLead = makeLeadCreator(deps)
  app.post(
    '/api/v1/leads',
    leadRoute(guard.leads('leads.write'), {
      operationId: 'createLead',
      summary: 'Create a lead',
      description:
        'Scope `leads.write`. Defaults: status `new`, priority `medium`, source `other`, a generated `uniqueCode`. Parameters whose names start with `k_` become custom fields. Counts towards the daily quota. Emits `lead.created`.',
      querystring: schema.CustomParameters,
      body: schema.NewLead,
      response: { 201: schema.LeadCreated, ...errors(...commonErrors, 409, 413, 415) },
    }),
    async (request, reply) => {
      const user = userOf(request, guard)
      const parameters = fieldsFromParameters(request.query)
      const { patch, issues } = parseLeadPatch(request.body, parameters, { ...user, at: '' })
      const lead = presentLead(await createLead(user, patch, issues), user.masked)
      reply.code(201)
      return { success: true, message: 'Lead created successfully', data: lead, lead }
    },
  )
  app.patch(
    '/api/v1/leads/:identifier',
    leadRoute(guard.leads('leads.write'), {
      operationId: 'updateLead',
      summary: 'Change fields of a lead',
      description:
        'Scope `leads.write`. Send only the fields to change; null clears a nullable field. A payload that changes nothing returns `No changes detected`, writes nothing and emits nothing; otherwise `lead.updated` is emitted.',
      params: schema.Identifier,
      querystring: schema.NoQuery,
      body: schema.LeadChanges,
      response: { 200: schema.LeadUpdatedResponse, ...errors(...commonErrors, 404, 409, 413, 415) },
    }),
    async (request) => {
      const user = userOf(request, guard)
      const parsed = parseLeadPatch(request.body, [], { ...user, at: '' })
      const { lead, before, changed } = await updateLead(deps, user, request.params.identifier, parsed)
      const shown = presentUpdated(lead, before.status, user.masked)
      const message = changed ? 'Lead updated successfully' : 'No changes detected'
      return { success: true, message, data: shown, lead: shown }
    },
  )
}

function deletionRoutes(app: App, deps: LeadDeps, guard: LeadsGuard): void {
  app.delete(
    '/api/v1/leads/:identifier',
    leadRoute(guard.deleteLeads(), {
      operationId: 'deleteLead',
      summary: 'Delete a lead',
      description:
        'Scope `leads.delete`; through 30 September 2026 UTC also `leads.write`, with the response headers `x-service-deprecation-warning` and `Warning`. The lead is hidden from every read, and its externalRef and uniqueCode become available. It can be restored for 30 days; then its personal data is destroyed. Emits `lead.deleted`.',
      params: schema.Identifier,
      querystring: schema.NoQuery,
      response: { 200: schema.LeadDeleted, ...errors(...commonErrors, 404) },
    }),
    async (request) => {
      await deleteLead(deps, userOf(request, guard), request.params.identifier)
      return { success: true, message: 'Lead deleted successfully' }
    },
  )
  app.post(
    '/api/v1/leads/:id/restore',
    leadRoute(guard.leads('leads.delete'), {
      operationId: 'restoreLead',
      summary: 'Restore a deleted lead',
      description:
        'Scope `leads.delete`. Restores a lead within 30 days of its deletion. 409 with `data.field` if its externalRef or uniqueCode has been taken since. Emits `lead.restored`.',
      params: schema.LeadId,
      querystring: schema.NoQuery,
      response: { 200: schema.LeadRestored, ...errors(...commonErrors, 404, 409) },
    }),
    async (request) => {
      const user = userOf(request, guard)
      const lead = presentLead(await restoreLead(deps, user, request.params.id), user.masked)
      return { success: true, message: 'Lead restored successfully', data: lead, lead }
    },
  )
}

function upsertRoutes(app: App, deps: LeadDeps, guard: LeadsGuard): void {
  const upsertLead = makeLeadUpserter(deps)
  app.post(
    '/api/v1/leads/upsert',
    leadRoute(guard.leads('leads.write', 'leads.bulk'), {
      operationId: 'upsertLead',
      summary: 'Update the lead that matches, or create it',
      description:
        'Scope `leads.write` or `leads.bulk`. Calls with the same matcher are serialized: parallel upserts of one phone create one lead. If `match.by` is `phone`, `uniqueCode` or `externalRef` and `lead` lacks that field, `match.value` is used for it on creation. An update that changes nothing emits nothing.',
      querystring: schema.UpsertQuery,
      body: schema.UpsertBody,
      response: { 200: schema.LeadUpserted, ...errors(...commonErrors, 404, 409, 413, 415) },
    }),
    async (request) => {
      const user = userOf(request, guard)
      const { dryRun = false, ...parameters } = request.query
      const item = parseUpsert(request.body, fieldsFromParameters(parameters), { ...user, at: '' })
      if (item instanceof ApiError) throw item
      const [outcome] = dryRun
        ? await upsertLeads(deps, user, [item], { continueOnError: true, dryRun })
        : [await upsertLead(user, item)]
      if (outcome === undefined || outcome.action === 'failed') throw outcome?.error
      const lead = presentLead(outcome.lead, user.masked)
      return { success: true, action: outcome.action, data: lead, lead, ...(dryRun ? { dryRun } : {}) }
    },
  )
  app.post(
    '/api/v1/leads/bulk-upsert',
    leadRoute(guard.leads('leads.bulk'), {
      operationId: 'bulkUpsertLeads',
      summary: 'Upsert up to 100 leads',
      description:
        'Scope `leads.bulk`. Items are processed in order; each sees the changes of earlier ones. A failed item does not stop the others unless `options.continueOnError` is false; then earlier items stay and later ones are absent from `results`. Always 200 if the envelope is valid. Emits one event per item that changed something.',
      querystring: schema.BulkQuery,
      body: schema.BulkBody,
      response: { 200: schema.BulkResult, ...errors(...commonErrors, 413, 415) },
    }),
    async (request) => {
      const user = userOf(request, guard)
      const { dryRun = false } = request.query
      const { items, options } = request.body
      const continueOnError = options?.continueOnError ?? true
      return deps.db.inBulk(async () => {
        const parsed = items.map((item, index) => parseBulkItem(item, { ...user, at: `items[${index}]` }))
        const outcomes = await upsertLeads(deps, user, parsed, { continueOnError, dryRun })
        return presentBulk(items, outcomes, user.masked, dryRun)
      })
    },
  )
}

const userOf = (request: FastifyRequest, { lookupLimits }: LeadsGuard): LeadUser =>
  leadUserOfKey(callerOf(request), lookupLimits)
