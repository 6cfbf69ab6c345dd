import { Type } from 'typebox'
import { notFound } from '../base/errors.ts'
import { type App, errors } from '../base/route.ts'
import { memberOf, type TeamGuard } from '../team/member.ts'
import { idSchema, teamRoute, workspaceParams } from '../team/team-schema.ts'
import { beginErasure, foreseeErasure } from './begin.ts'
import { type ErasureDeps, findErasure, listErasures } from './erasure.ts'
import { runErasure } from './run.ts'
import { erasureSchema, newErasureSchema, presentErasure, presentRemoved, removedSchema } from './schema.ts'

const path = '/api/team/v1/workspaces/:workspaceId/erasures'
const params = Type.Object(workspaceParams)
const oneErasure = Type.Object({ erasure: erasureSchema })
/** A request waits so long for the end; a worker does the rest. */
const waitMs = 5_000

/** Erasing a customer from the workspace. */
export function erasureTeamRoutes(app: App, deps: ErasureDeps, guard: TeamGuard): void {
  eraseRoute(app, deps, guard)
  listRoute(app, deps, guard)
  readRoute(app, deps, guard)
}

function eraseRoute(app: App, deps: ErasureDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Erasures'),
      operationId: 'eraseCustomer',
      summary: 'Erase a customer',
      description:
        'For admins; it cannot be undone. Name the customer by one of phone, email, leadId and conversationId. Erases their leads, conversations, messages, notes, events, webhook deliveries and whatever else holds them in this workspace. Receivers of events get `lead.deleted` once more for each lead, with its id and nothing of the person. What the customer writes before their conversation is gone goes with it; what they write afterwards begins a new one. An answer with state `running` means that it goes on by itself: ask for the erasure again.',
      params,
      body: newErasureSchema,
      response: {
        200: Type.Object({ found: removedSchema }, { description: 'With `dryRun`: what would be erased.' }),
        201: oneErasure,
        ...errors(400, 401, 403, 404, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { dryRun, ...name } = request.body
      if (dryRun) {
        const found = await foreseeErasure(deps, member, name)
        return reply.code(200).send({ found: presentRemoved(found) })
      }
      const begun = await beginErasure(deps, member, name)
      const row = await runErasure(deps, member.workspaceId, begun.id, waitMs)
      return reply.code(201).send({ erasure: presentErasure(row ?? begun) })
    },
  })
}

function listRoute(app: App, deps: ErasureDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Erasures'),
      operationId: 'listErasures',
      summary: 'List erasures',
      description: 'For admins. The newest 50, with nothing of whom they were about.',
      params,
      response: {
        200: Type.Object({ erasures: Type.Array(erasureSchema, { maxItems: 50 }) }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request) => {
      const rows = await listErasures(deps.db.sql, memberOf(request).workspaceId)
      return { erasures: rows.map(presentErasure) }
    },
  })
}

function readRoute(app: App, deps: ErasureDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${path}/:erasureId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Erasures'),
      operationId: 'getErasure',
      summary: 'Get an erasure',
      description: 'For admins. How far it is, and what it has removed.',
      params: Type.Object({ ...workspaceParams, erasureId: idSchema('The erasure.') }),
      response: { 200: oneErasure, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const row = await findErasure(deps.db.sql, memberOf(request).workspaceId, request.params.erasureId)
      if (row === undefined) throw notFound('Erasure not found')
      return { erasure: presentErasure(row) }
    },
  })
}
