import { Type } from 'typebox'
import { type App, errors } from '../../../base/route.ts'
import { page } from '../../../base/schema-types.ts'
import { type Member, memberOf, type TeamGuard } from '../../../team/member.ts'
import { closed, teamRoute, workspaceParams } from '../../../team/team-schema.ts'
import { undoBulkChange } from '../../bulk/begin.ts'
import type { BulkDeps } from '../../bulk/run.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { cancelImport, createImport, startImport } from './begin.ts'
import { findImport, type ImportRow, listImports } from './imports.ts'
import { presentImport, presentImports } from './present.ts'
import { Import, importParams, NewImportBody, OneImport, StartBody } from './schema.ts'

export const importsPath = '/api/team/v1/workspaces/:workspaceId/lead-imports'
export const importPath = `${importsPath}/:importId`

/** Imports for the team: made, uploaded, looked at, started, watched. */
export function importTeamRoutes(app: App, deps: BulkDeps, guard: TeamGuard): void {
  readingRoutes(app, deps, guard)
  startRoute(app, deps, guard)
  cancelRoute(app, deps, guard)
  undoRoute(app, deps, guard)
}

async function answerOf({ db, vault, clock }: LeadDeps, { workspaceId }: Member, row: ImportRow) {
  return { import: await presentImport(db.sql, await vault.keyring(workspaceId), row, clock.now()) }
}

function readingRoutes(app: App, deps: BulkDeps, guard: TeamGuard): void {
  const onRequest = guard.member('admin')

  app.route({
    method: 'POST',
    url: importsPath,
    onRequest,
    schema: {
      ...teamRoute('Lead imports'),
      operationId: 'createLeadImport',
      summary: 'Make an import of leads',
      description:
        'Makes room for a file. Then upload it, look at the preview, and start. 409 when 10 imports of the workspace are open (neither done, failed nor cancelled).',
      params: Type.Object(workspaceParams),
      body: NewImportBody,
      response: { 201: OneImport, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { format = 'csv', ...rest } = request.body
      const row = await createImport(deps, member.workspaceId, member.actor, { ...rest, format })
      return reply.code(201).send(await answerOf(deps, member, row))
    },
  })
  app.route({
    method: 'GET',
    url: importsPath,
    onRequest,
    schema: {
      ...teamRoute('Lead imports'),
      operationId: 'listLeadImports',
      summary: 'List imports of leads',
      description: 'The newest 50, newest first.',
      params: Type.Object(workspaceParams),
      querystring: Type.Object({}, closed),
      response: { 200: Type.Object({ imports: Type.Array(Import, page) }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const keyring = await deps.vault.keyring(workspaceId)
      const rows = await listImports(deps.db.sql, workspaceId)
      return { imports: await presentImports(deps.db.sql, workspaceId, keyring, rows, deps.clock.now()) }
    },
  })
  app.route({
    method: 'GET',
    url: importPath,
    onRequest,
    schema: {
      ...teamRoute('Lead imports'),
      operationId: 'getLeadImport',
      summary: 'Get an import of leads',
      description: 'How far the upload or the work has come, and what was refused and why.',
      params: importParams,
      querystring: Type.Object({}, closed),
      response: { 200: OneImport, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      return answerOf(deps, member, await findImport(deps.db.sql, member.workspaceId, request.params.importId))
    },
  })
}

function startRoute(app: App, deps: BulkDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${importPath}/start`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Lead imports'),
      operationId: 'startLeadImport',
      summary: 'Start an import of leads',
      description:
        'Rows are upserted in order, each seeing those before it, by the rules of the leads interface; events, history and the daily lead quota are as there. When the quota is used up, the import waits for midnight UTC. What was written stays if it fails or is cancelled. A dry run counts what would happen; a lead that it would create counts once, but what a later row would find in it is not looked at. 409 unless the import is `ready` or `checked`; 422 when the file cannot be read.',
      params: importParams,
      body: StartBody,
      response: { 200: OneImport, ...errors(400, 401, 403, 404, 409, 422) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { importId } = request.params
      return answerOf(deps, member, await startImport(deps, member.workspaceId, member.actor, importId, request.body))
    },
  })
}

function cancelRoute(app: App, deps: BulkDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${importPath}/cancel`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Lead imports'),
      operationId: 'cancelLeadImport',
      summary: 'Cancel an import of leads',
      description: 'For good; rows that it has written stay, the file is removed. 409 when it has ended.',
      params: importParams,
      response: { 200: OneImport, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      return answerOf(deps, member, await cancelImport(deps, member.workspaceId, member.actor, request.params.importId))
    },
  })
}

function undoRoute(app: App, deps: BulkDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${importPath}/undo`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Lead imports'),
      operationId: 'undoLeadImport',
      summary: 'Undo an import of leads',
      description:
        'Within a day of its end, also of one that failed or was cancelled. Leads that it created are deleted, restorable for 30 days; those that it changed get back what they had. A lead that was changed since is left as it is, and counted in `undo.kept`. 409 when the import has not ended, has changed nothing, was undone, or the day is over.',
      params: importParams,
      response: { 200: OneImport, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { importId } = request.params
      await findImport(deps.db.sql, member.workspaceId, importId)
      await undoBulkChange(deps, member.workspaceId, member.actor, importId, 'import')
      return answerOf(deps, member, await findImport(deps.db.sql, member.workspaceId, importId))
    },
  })
}
