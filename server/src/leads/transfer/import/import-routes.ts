import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { listMembers } from '../../../auth/users/members.ts'
import { discardBody, iterateBody } from '../../../base/bytes/raw-body.ts'
import { instanceScope } from '../../../base/encryption/key-store.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { invalid, notFound } from '../../../base/errors.ts'
import type { App } from '../../../base/route.ts'
import { stopWaitBudget } from '../../../base/scheduling/work-context.ts'
import { page } from '../../../base/schema-types.ts'
import type { Member, TeamGuard } from '../../../team/member.ts'
import { type TeamApi, teamApi } from '../../../team/team-api.ts'
import { closed } from '../../../team/team-schema.ts'
import { findWorkspace } from '../../../workspaces/workspace.ts'
import { type BulkChangeRow, undoUntilOf } from '../../bulk/bulk-changes.ts'
import type { BulkDeps } from '../../bulk/run-bulk-change.ts'
import { undoBulkChange } from '../../bulk/start-bulk-change.ts'
import { fieldsInUse } from '../../fields/lead-fields.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { fileResponse, sendFile } from '../export/export.ts'
import { appendUpload, readPieces } from './file-pieces.ts'
import { findImport, type ImportRow, listImports, maxFileBytes } from './imports.ts'
import { previewFile, readColumnValues, resolveField } from './preview.ts'
import * as schema from './schema.ts'
import { decryptReport, decryptSettings, type ImportChoice } from './settings.ts'
import { cancelImport, createImport, startImport } from './start-import.ts'
import { readTracked } from './track-leads.ts'

const importsPath = '/api/team/v1/workspaces/:workspaceId/lead-imports'
const importPath = `${importsPath}/:importId`
const oneImport = { params: schema.importParams, answers: { 200: schema.OneImport } }

/** Registers the routes to create, upload, preview, start, read, cancel and undo imports. */
export function importTeamRoutes(app: App, deps: BulkDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead imports')
  api.post(importsPath, 'admin', {
    operationId: 'createLeadImport',
    summary: 'Create an import of leads',
    description:
      'Next, upload the file, check the preview, and start the import. 409 if 10 imports of the workspace are open (neither done, failed nor cancelled).',
    body: schema.NewImportBody,
    answers: { 201: schema.OneImport },
    allErrors: [400, 401, 403, 404, 409],
    run: async ({ member, body }) => respondWith(deps, member, await createImport(deps, member, body)),
  })
  api.get(importsPath, 'admin', {
    operationId: 'listLeadImports',
    summary: 'List imports of leads',
    description: 'The newest 50, newest first.',
    query: Type.Object({}, closed),
    answers: { 200: Type.Object({ imports: Type.Array(schema.Import, page) }) },
    run: async ({ member }) => {
      const { workspaceId } = member
      const rows = await listImports(deps.db.sql, workspaceId)
      return { imports: rows.map(await importPresenter(deps, workspaceId, rows)) }
    },
  })
  api.get(importPath, 'admin', {
    operationId: 'getLeadImport',
    summary: 'Get an import of leads',
    description: 'Progress of the upload or the import, and rejected rows with reasons.',
    ...oneImport,
    query: Type.Object({}, closed),
    run: async ({ member, params }) =>
      respondWith(deps, member, await findImport(deps.db.sql, member.workspaceId, params.importId)),
  })
  workRoutes(api, deps)
  fileRoutes(api, deps)
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(fileTypes, (_request, body, done) => done(null, body))
    uploadRoute(teamApi(scope, guard, 'Lead imports'), deps)
  })
}

function workRoutes(api: TeamApi, deps: BulkDeps): void {
  api.post(`${importPath}/start`, 'admin', {
    operationId: 'startLeadImport',
    summary: 'Start an import of leads',
    description:
      'Rows are upserted in order, each seeing the changes of earlier ones, by the rules of the leads interface, with its events, history and daily lead quota. When the quota is used up, the import pauses until midnight UTC. Written rows stay if it fails or is cancelled. A dry run counts what would happen; a lead that it would create counts once, but later rows are not compared with its values. 409 unless the import is `ready` or `checked`; 422 if the file cannot be read.',
    ...oneImport,
    body: schema.StartBody,
    allErrors: [400, 401, 403, 404, 409, 422],
    run: async ({ member, params, body }) =>
      respondWith(deps, member, await startImport(deps, member, params.importId, body)),
  })
  api.post(`${importPath}/cancel`, 'admin', {
    operationId: 'cancelLeadImport',
    summary: 'Cancel an import of leads',
    description: 'Cannot be reversed. Written rows stay, and the file is deleted. 409 if the import has ended.',
    ...oneImport,
    errors: [409],
    run: async ({ member, params }) => respondWith(deps, member, await cancelImport(deps, member, params.importId)),
  })
  api.post(`${importPath}/undo`, 'admin', {
    operationId: 'undoLeadImport',
    summary: 'Undo an import of leads',
    description:
      'Within 24 hours of its end, also if it failed or was cancelled. Leads that it created are deleted and can be restored for 30 days; leads that it changed get their former values. A lead changed since is left as it is and counted in `undo.kept`. 409 if the import has not ended, has changed nothing, was already undone, or the 24 hours are over.',
    ...oneImport,
    errors: [409],
    run: async ({ member, params }) => {
      const { importId } = params
      await findImport(deps.db.sql, member.workspaceId, importId)
      await undoBulkChange(deps, member, importId, 'import')
      return respondWith(deps, member, await findImport(deps.db.sql, member.workspaceId, importId))
    },
  })
}

async function respondWith(deps: LeadDeps, { workspaceId }: Member, row: ImportRow) {
  const present = await importPresenter(deps, workspaceId, [row])
  return { import: present(row) }
}

const fileTypes = ['text/csv', 'application/x-ndjson', 'application/octet-stream']

function fileRoutes(api: TeamApi, deps: LeadDeps): void {
  api.get(`${importPath}/preview`, 'admin', {
    operationId: 'previewLeadImport',
    summary: 'Preview an uploaded file',
    description:
      'Its columns with proposed fields, recognized in English, Portuguese and Spanish, and its first rows. Works during the upload. 422 if the file cannot be read with these settings, or was deleted because the import ended.',
    params: schema.importParams,
    query: schema.PreviewQuery,
    answers: { 200: schema.Preview },
    errors: [422],
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const row = await findImport(deps.db.sql, workspaceId, params.importId)
      const preview = await previewFile(deps.db.sql, await deps.keyStore.keyring(workspaceId), row, query)
      const { dataStart: _, ...shown } = preview
      return shown
    },
  })
  api.get(`${importPath}/values`, 'admin', {
    operationId: 'listImportValues',
    summary: 'List the values of a column of an uploaded file',
    description:
      'For fields with a fixed set of values: the values in the file, how often they occur, and what they probably mean. Send the mapping as `values` or `fieldValues` when you start the import. 422 if there is no such column, or the file cannot be read with these settings.',
    params: schema.importParams,
    query: schema.ValuesQuery,
    answers: { 200: schema.ColumnValues },
    errors: [422],
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const { sql } = deps.db
      const row = await findImport(sql, workspaceId, params.importId)
      const statuses = (await findWorkspace(sql, workspaceId))?.leadStatuses ?? []
      const keyring = await deps.keyStore.keyring(workspaceId)
      const field = resolveField(query.field, await fieldsInUse(sql, workspaceId))
      const members =
        field === 'assignedTo' ? await listMembers(sql, workspaceId, await deps.keyStore.keyring(instanceScope)) : []
      const valuesQuery = { ...query, field }
      return deps.db.inBulk(() => readColumnValues(sql, keyring, row, valuesQuery, { statuses, members }))
    },
  })
  refusedRoute(api, deps)
}

function refusedRoute(api: TeamApi, deps: LeadDeps): void {
  api.get(`${importPath}/refused`, 'admin', {
    operationId: 'downloadRefusedRows',
    summary: 'Download the rejected rows of an import',
    description:
      'The rejected rows as uploaded, in UTF-8, with the reason in `import_error`: correct them and import the file. Kept for 7 days after the end. 404 if there are none.',
    params: schema.importParams,
    query: Type.Object({}, closed),
    answers: { 200: fileResponse('The rejected rows.') },
    run: async ({ member, params, reply }) => {
      const { workspaceId } = member
      const { id: importId, format } = await findImport(deps.db.sql, workspaceId, params.importId)
      const getKeyring = () => deps.keyStore.keyring(workspaceId)
      const pieces = readPieces(deps.db.sql, getKeyring, { workspaceId, importId, kind: 'refused' }, 0)
      const first = await pieces.next()
      if (first.done) throw notFound('There are no rejected rows')
      const rest = async function* () {
        yield first.value
        yield* pieces
      }
      return sendFile(reply, 'rejected', format, rest())
    },
  })
}

function uploadRoute(api: TeamApi, deps: LeadDeps): void {
  api.put(`${importPath}/content`, 'admin', {
    operationId: 'uploadLeadImport',
    summary: 'Upload a file to import, or a part of it',
    description:
      'Send it as `text/csv`, `application/x-ndjson` or `application/octet-stream`. Send parts in order, each starting where the previous one ended, of any length; a request may take at most 30 s, so send 4 MiB at a time. Bytes of an interrupted request are kept: read `uploadedBytes` and continue there. 409 if `offset` is not the next byte, with `data.uploadedBytes`, if the file exceeds its size, or if the import files of the workspace exceed 2 GiB.',
    ...oneImport,
    query: schema.UploadQuery,
    errors: [409, 415],
    options: { bodyLimit: maxFileBytes },
    run: async ({ member, params, query, body, request, reply }) => {
      const { workspaceId } = member
      const { importId } = params
      const stream = body as Readable | null | undefined
      if (!stream)
        throw invalid('', `must have a body with the file's bytes from \`offset\` on, as ${fileTypes.join(', ')}`)
      const { offset } = query
      stopWaitBudget()
      await appendUpload(deps, workspaceId, importId, offset, iterateBody(stream)).catch(discardBody(request, reply))
      return respondWith(deps, member, await findImport(deps.db.sql, workspaceId, importId))
    },
  })
}

async function importPresenter({ db, keyStore, clock }: LeadDeps, workspaceId: string, rows: readonly ImportRow[]) {
  const keyring = await keyStore.keyring(workspaceId)
  const now = clock.now()
  const ids = rows.map(({ id }) => id)
  const tracked = await readTracked(db.sql, workspaceId, ids)
  return (row: ImportRow) => present(keyring, row, tracked.get(row.id), now)
}

function present(keyring: Keyring, row: ImportRow, tracked: BulkChangeRow | undefined, now: Date) {
  const { fileName, choice } = decryptSettings(keyring, row.id, row.settings)
  return {
    id: row.id,
    fileName,
    format: row.format,
    state: row.state,
    dryRun: row.dry_run,
    sizeBytes: row.size,
    uploadedBytes: row.uploaded,
    doneBytes: row.position,
    rows: row.rows,
    created: row.created,
    updated: row.updated,
    unchanged: row.unchanged,
    refused: row.refused,
    rowsPerSecond: rateOf(row, now),
    refusals: decryptReport(keyring, row.id, row.report),
    choice: choice === null ? null : presentChoice(choice),
    problem: row.problem,
    resumesAt: row.state === 'paused' ? row.due_at.toISOString() : null,
    startedBy: { type: row.actor_type, id: row.actor_id },
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    undo: tracked === undefined || tracked.state === 'running' ? null : presentUndo(tracked, now),
    filesUntil: row.expires_at?.toISOString() ?? null,
  }
}

function presentChoice({ columns, targets, format: _, ...rest }: ImportChoice) {
  return { ...rest, columns: columns.map((name, at) => ({ name, target: targets[at] ?? null })) }
}

function presentUndo(tracked: BulkChangeRow, now: Date) {
  const { state, total: leads, undone, kept } = tracked
  const until = undoUntilOf(tracked, now)
  const undoState = state === 'undoing' || state === 'undone' ? state : until === null ? 'over' : 'possible'
  return { state: undoState, leads, undone, kept, until } as const
}

function rateOf({ rows, started_at, ended_at }: ImportRow, now: Date): number {
  if (started_at === null || rows === 0) return 0
  const ms = (ended_at ?? now).getTime() - started_at.getTime()
  return Math.round((rows / Math.max(ms, 1)) * 1000)
}
