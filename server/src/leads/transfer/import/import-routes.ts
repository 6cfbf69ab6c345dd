import { Type } from 'typebox'
import type { App } from '../../../base/route.ts'
import { page } from '../../../base/schema-types.ts'
import type { Member, TeamGuard } from '../../../team/member.ts'
import { type TeamApi, teamApi } from '../../../team/team-api.ts'
import { closed } from '../../../team/team-schema.ts'
import { undoBulkChange } from '../../bulk/begin.ts'
import type { BulkDeps } from '../../bulk/run.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { cancelImport, createImport, startImport } from './begin.ts'
import { findImport, type ImportRow, listImports } from './imports.ts'
import { presentImport, presentImports } from './present.ts'
import { Import, importParams, NewImportBody, OneImport, StartBody } from './schema.ts'

const importsPath = '/api/team/v1/workspaces/:workspaceId/lead-imports'
export const importPath = `${importsPath}/:importId`

/** Imports for the team: made, uploaded, looked at, started, watched. */
export function importTeamRoutes(app: App, deps: BulkDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead imports')
  api.post(importsPath, 'admin', {
    operationId: 'createLeadImport',
    summary: 'Make an import of leads',
    description:
      'Makes room for a file. Then upload it, look at the preview, and start. 409 when 10 imports of the workspace are open (neither done, failed nor cancelled).',
    body: NewImportBody,
    answers: { 201: OneImport },
    allErrors: [400, 401, 403, 404, 409],
    run: async ({ member, body }) => {
      const { format = 'csv', ...rest } = body
      const row = await createImport(deps, member.workspaceId, member.actor, { ...rest, format })
      return answerOf(deps, member, row)
    },
  })
  api.get(importsPath, 'admin', {
    operationId: 'listLeadImports',
    summary: 'List imports of leads',
    description: 'The newest 50, newest first.',
    query: Type.Object({}, closed),
    answers: { 200: Type.Object({ imports: Type.Array(Import, page) }) },
    run: async ({ member }) => {
      const { workspaceId } = member
      const keyring = await deps.vault.keyring(workspaceId)
      const rows = await listImports(deps.db.sql, workspaceId)
      return { imports: await presentImports(deps.db.sql, workspaceId, keyring, rows, deps.clock.now()) }
    },
  })
  api.get(importPath, 'admin', {
    operationId: 'getLeadImport',
    summary: 'Get an import of leads',
    description: 'How far the upload or the work has come, and what was refused and why.',
    params: importParams,
    query: Type.Object({}, closed),
    answers: { 200: OneImport },
    run: async ({ member, params }) =>
      answerOf(deps, member, await findImport(deps.db.sql, member.workspaceId, params.importId)),
  })
  workRoutes(api, deps)
}

/** The work itself. */
function workRoutes(api: TeamApi, deps: BulkDeps): void {
  api.post(`${importPath}/start`, 'admin', {
    operationId: 'startLeadImport',
    summary: 'Start an import of leads',
    description:
      'Rows are upserted in order, each seeing those before it, by the rules of the leads interface; events, history and the daily lead quota are as there. When the quota is used up, the import waits for midnight UTC. What was written stays if it fails or is cancelled. A dry run counts what would happen; a lead that it would create counts once, but what a later row would find in it is not looked at. 409 unless the import is `ready` or `checked`; 422 when the file cannot be read.',
    params: importParams,
    body: StartBody,
    answers: { 200: OneImport },
    allErrors: [400, 401, 403, 404, 409, 422],
    run: async ({ member, params, body }) => {
      const { importId } = params
      return answerOf(deps, member, await startImport(deps, member.workspaceId, member.actor, importId, body))
    },
  })
  api.post(`${importPath}/cancel`, 'admin', {
    operationId: 'cancelLeadImport',
    summary: 'Cancel an import of leads',
    description: 'For good; rows that it has written stay, the file is removed. 409 when it has ended.',
    params: importParams,
    answers: { 200: OneImport },
    errors: [409],
    run: async ({ member, params }) =>
      answerOf(deps, member, await cancelImport(deps, member.workspaceId, member.actor, params.importId)),
  })
  api.post(`${importPath}/undo`, 'admin', {
    operationId: 'undoLeadImport',
    summary: 'Undo an import of leads',
    description:
      'Within a day of its end, also of one that failed or was cancelled. Leads that it created are deleted, restorable for 30 days; those that it changed get back what they had. A lead that was changed since is left as it is, and counted in `undo.kept`. 409 when the import has not ended, has changed nothing, was undone, or the day is over.',
    params: importParams,
    answers: { 200: OneImport },
    errors: [409],
    run: async ({ member, params }) => {
      const { importId } = params
      await findImport(deps.db.sql, member.workspaceId, importId)
      await undoBulkChange(deps, member.workspaceId, member.actor, importId, 'import')
      return answerOf(deps, member, await findImport(deps.db.sql, member.workspaceId, importId))
    },
  })
}

async function answerOf({ db, vault, clock }: LeadDeps, { workspaceId }: Member, row: ImportRow) {
  return { import: await presentImport(db.sql, await vault.keyring(workspaceId), row, clock.now()) }
}
