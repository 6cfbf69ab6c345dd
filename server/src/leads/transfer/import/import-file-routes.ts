import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { listMembers } from '../../../access/users/members.ts'
import { leaveBody, piecesOf } from '../../../base/bytes/raw-body.ts'
import type { Tx } from '../../../base/db.ts'
import { type ApiError, conflict, invalid, notFound } from '../../../base/errors.ts'
import type { App } from '../../../base/route.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { instanceScope } from '../../../base/sealing/vault.ts'
import { itemsOfWork, takeTime } from '../../../base/shares/work.ts'
import type { TeamGuard } from '../../../team/member.ts'
import { type TeamApi, teamApi } from '../../../team/team-api.ts'
import { announceImport } from '../../../team/team-news.ts'
import { closed } from '../../../team/team-schema.ts'
import { findWorkspace } from '../../../workspace/workspace.ts'
import { fieldsInUse } from '../../fields/lead-fields.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { fileAnswer } from '../file/file-answer.ts'
import { importPath } from './import-routes.ts'
import { findImport, type ImportRow, lockImport } from './imports.ts'
import { checkStoredBytes, maxFileBytes } from './limits.ts'
import { type PieceFile, putPiece, readPieces } from './pieces.ts'
import { presentImport } from './present.ts'
import { lookAtFile } from './preview.ts'
import { ColumnValues, importParams, OneImport, Preview, PreviewQuery, UploadQuery, ValuesQuery } from './schema.ts'
import { fieldToFill, readColumnValues } from './values.ts'

const fileTypes = ['text/csv', 'application/x-ndjson', 'application/octet-stream']

/** The files of an import: its upload, a look at it, the rows that were refused. */
export function importFileTeamRoutes(app: App, deps: LeadDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead imports')
  api.get(`${importPath}/preview`, 'admin', {
    operationId: 'previewLeadImport',
    summary: 'Look at an uploaded file',
    description:
      'Its columns with the fields proposed for them, in English, Portuguese and Spanish, and its first rows. A part of the upload is enough. 422 when it cannot be read so, or is gone since the import ended.',
    params: importParams,
    query: PreviewQuery,
    answers: { 200: Preview },
    errors: [422],
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const row = await findImport(deps.db.sql, workspaceId, params.importId)
      const look = await lookAtFile(deps.db.sql, await deps.vault.keyring(workspaceId), row, query)
      const { dataStart: _, ...shown } = look
      return shown
    },
  })
  api.get(`${importPath}/values`, 'admin', {
    operationId: 'listImportValues',
    summary: 'List what a column of an uploaded file says',
    description:
      'For fields of which a lead has one of a few values: what the file writes, how often, and what it probably stands for, to be sent as `values` or `fieldValues` when the import is started. 422 when there is no such column, or the file cannot be read so.',
    params: importParams,
    query: ValuesQuery,
    answers: { 200: ColumnValues },
    errors: [422],
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const { sql } = deps.db
      const row = await findImport(sql, workspaceId, params.importId)
      const statuses = (await findWorkspace(sql, workspaceId))?.leadStatuses ?? []
      const keyring = await deps.vault.keyring(workspaceId)
      const field = fieldToFill(query.field, await fieldsInUse(sql, workspaceId))
      const members =
        field === 'assignedTo' ? await listMembers(sql, workspaceId, await deps.vault.keyring(instanceScope)) : []
      const asked = { ...query, field }
      return deps.db.inBulk(() => readColumnValues(sql, keyring, row, asked, { statuses, members }))
    },
  })
  refusedRoute(api, deps)
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(fileTypes, (_request, body, done) => done(null, body))
    uploadRoute(teamApi(scope, guard, 'Lead imports'), deps)
  })
}

function refusedRoute(api: TeamApi, deps: LeadDeps): void {
  api.get(`${importPath}/refused`, 'admin', {
    operationId: 'downloadRefusedRows',
    summary: 'Download the refused rows of an import',
    description:
      'The refused rows as they came, in UTF-8, with the reason in `import_error`: mend them and import the file. Kept for 7 days after the end. 404 when there are none.',
    params: importParams,
    query: Type.Object({}, closed),
    answers: { 200: fileAnswer('The refused rows.') },
    run: async ({ member, params, reply }) => {
      const { workspaceId } = member
      const { id: importId, format } = await findImport(deps.db.sql, workspaceId, params.importId)
      const keyringOf = () => deps.vault.keyring(workspaceId)
      const pieces = readPieces(deps.db.sql, keyringOf, { workspaceId, importId, kind: 'refused' }, 0)
      const first = await pieces.next()
      if (first.done) throw notFound('There are no refused rows')
      const rest = async function* () {
        yield first.value
        yield* pieces
      }
      return reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson')
        .header('content-disposition', `attachment; filename="refused.${format}"`)
        .send(Readable.from(itemsOfWork(rest())))
    },
  })
}

function uploadRoute(api: TeamApi, deps: LeadDeps): void {
  api.put(`${importPath}/content`, 'admin', {
    operationId: 'uploadLeadImport',
    summary: 'Upload a file to import, or a part of it',
    description:
      'Sent as `text/csv`, `application/x-ndjson` or `application/octet-stream`. Parts come in order, each where the one before ended, and may be of any length; a request takes 30 s at most, so send 4 MiB at a time. What arrived before a request broke off is kept: ask for `uploadedBytes` and go on there. 409 when `offset` is not the next byte, with `data.uploadedBytes`, or the file grows beyond its size, or the files of all imports of the workspace beyond 2 GiB.',
    params: importParams,
    query: UploadQuery,
    answers: { 200: OneImport },
    errors: [409, 415],
    options: { bodyLimit: maxFileBytes },
    run: async ({ member, params, query, body, request, reply }) => {
      const { workspaceId } = member
      const { importId } = params
      const stream = body as Readable | null | undefined
      if (!stream)
        throw invalid('', `must have a body: the file's bytes from \`offset\` on, as ${fileTypes.join(', ')}`)
      const { offset } = query
      takeTime()
      await appendUpload(deps, workspaceId, importId, offset, piecesOf(stream)).catch(leaveBody(request, reply))
      const row = await findImport(deps.db.sql, workspaceId, importId)
      return { import: await presentImport(deps.db.sql, await deps.vault.keyring(workspaceId), row, deps.clock.now()) }
    },
  })
}

const pieceBytes = 256 * 1024

const wrongOffset = (uploaded: number): ApiError =>
  conflict('The upload goes on elsewhere: send the bytes from `data.uploadedBytes` on', { uploadedBytes: uploaded })

/**
 * Appends what arrives to the file, a piece at a time: a request that breaks off leaves what it has brought, and the
 * next one goes on after it. The stream is read no faster than pieces are stored.
 */
export async function appendUpload(
  deps: LeadDeps,
  workspaceId: string,
  importId: string,
  offset: number,
  body: AsyncIterable<Buffer>,
): Promise<void> {
  let start = offset
  const put = async (bytes: Buffer) => {
    // Asked for at each piece: uploads take longer than keys that are rotated may be held.
    const keyring = await deps.vault.keyring(workspaceId)
    await deps.db.tx((tx) => append(tx, keyring, { workspaceId, importId, kind: 'file' }, start, bytes))
    start += bytes.length
  }
  let waiting: Buffer[] = []
  let length = 0
  for await (const bytes of body) {
    waiting.push(bytes)
    length += bytes.length
    if (length < pieceBytes) continue
    await put(Buffer.concat(waiting))
    waiting = []
    length = 0
  }
  // An empty body only asks whether this is the place.
  if (length > 0 || start === offset) await put(Buffer.concat(waiting))
}

async function append(tx: Tx, keyring: Keyring, file: PieceFile, start: number, bytes: Buffer): Promise<void> {
  const { workspaceId, importId } = file
  checkPlace(await lockImport(tx, workspaceId, importId), start, bytes.length)
  if (bytes.length === 0) return
  await checkStoredBytes(tx, workspaceId, bytes.length)
  const end = start + bytes.length
  await putPiece(tx, keyring, file, start, bytes)
  await tx`
    update lead_imports
    set uploaded = ${end},
      state = case when size = ${end} then 'ready' else state end
    where workspace_id = ${workspaceId}
      and id = ${importId}`
  announceImport(tx, workspaceId, importId)
}

function checkPlace(row: ImportRow, start: number, length: number): void {
  if (row.state !== 'uploading') throw conflict(`The upload has ended: the import is ${row.state}`)
  if (row.uploaded !== start) throw wrongOffset(row.uploaded)
  if (start + length > row.size) throw conflict('The file is longer than the size that was told', { size: row.size })
}
