import type { Sql, Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import {
  type ErasureScope,
  type ErasureStep,
  longestMention,
  mentionFinder,
  nothingLeft,
  type Removed,
} from '../../../base/erasure.ts'
import { type ApiError, conflict } from '../../../base/errors.ts'
import { recordAudit } from '../../../team/audit.ts'
import { publishImport } from '../../../team/live-updates.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { checkStoredBytes, endStates, type ImportRow, type ImportState, lockImport } from './imports.ts'
import { endTracking } from './track.ts'

/** A file of an import, in sealed pieces: the uploaded one, or the one of refused rows. */
interface PieceFile {
  workspaceId: string
  importId: string
  kind: 'file' | 'refused'
}

// A piece is bound to its place in its file, so that pieces cannot change places.
export const piecePlace = ({ importId, kind }: Omit<PieceFile, 'workspaceId'>, start: number) => ({
  table: 'lead_import_pieces',
  row: importId,
  column: `${kind} ${start}`,
})

export async function putPiece(
  tx: Tx,
  keyring: Keyring,
  file: PieceFile,
  start: number,
  bytes: Uint8Array,
): Promise<void> {
  await tx`
    insert into lead_import_pieces (workspace_id, import_id, kind, start, bytes)
    values (${file.workspaceId}, ${file.importId}, ${file.kind}, ${start}, ${keyring.encrypt(piecePlace(file, start), bytes)})`
}

/** The bytes from `from` on, a piece at a time. Keys are asked for at each: they may be rotated while a file is read. */
export async function* readPieces(
  sql: Sql,
  keyringOf: () => Keyring | Promise<Keyring>,
  file: PieceFile,
  from: number,
): AsyncGenerator<Buffer> {
  for (let next = from; ; ) {
    const [piece] = await sql<{ start: number; bytes: Buffer }[]>`
      select start, bytes
      from lead_import_pieces
      where workspace_id = ${file.workspaceId}
        and import_id = ${file.importId}
        and kind = ${file.kind}
        and start <= ${next}
      order by start desc
      limit 1`
    if (piece === undefined) return
    const keyring = await keyringOf()
    const bytes = keyring.decrypt(piecePlace(file, piece.start), piece.bytes)
    if (piece.start + bytes.length <= next) return
    yield bytes.subarray(next - piece.start)
    next = piece.start + bytes.length
  }
}

export async function dropPieces(
  tx: Tx,
  workspaceId: string,
  importId: string,
  kind: PieceFile['kind'] | null,
): Promise<void> {
  await tx`
    delete from lead_import_pieces
    where workspace_id = ${workspaceId}
      and import_id = ${importId}
      and (${kind}::text is null or kind = ${kind})`
}

/** Removes what an import has no more use for: a dry run's file is started again, that of one that ended never. */
export async function dropUsed(tx: Tx, workspaceId: string, importId: string, state: ImportState): Promise<void> {
  await tx`
    delete from lead_import_dry_names
    where workspace_id = ${workspaceId}
      and import_id = ${importId}`
  if (endStates.includes(state)) await dropPieces(tx, workspaceId, importId, 'file')
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
    const keyring = await deps.keyStore.keyring(workspaceId)
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
  publishImport(tx, workspaceId, importId)
}

function checkPlace(row: ImportRow, start: number, length: number): void {
  if (row.state !== 'uploading') throw conflict(`The upload has ended: the import is ${row.state}`)
  if (row.uploaded !== start) throw wrongOffset(row.uploaded)
  if (start + length > row.size) throw conflict('The file is longer than the size that was told', { size: row.size })
}

/** Of a quarter of a MiB each. */
const piecesAtOnce = 16

/** The place of the next look: an import's file, and where in it. */
interface Look {
  importId: string
  kind: PieceFile['kind']
  from: number
}

/**
 * Looks through stored files of imports, a few MiB a step. One that names the customer goes whole, with its refused rows,
 * and its import is cancelled if it has not ended: else it would bring the customer back.
 */
export async function eraseImportFiles(tx: Tx, scope: ErasureScope, place: string | null): Promise<ErasureStep> {
  const look = place === null ? await nextFile(tx, scope.workspaceId, null) : (JSON.parse(place) as Look)
  if (look === null) return nothingLeft
  const found = await lookThrough(tx, scope, look)
  const removed: Removed = found === 'here' ? { importFiles: await dropFiles(tx, scope, look.importId) } : {}
  const next = typeof found === 'number' ? { ...look, from: found } : await nextFile(tx, scope.workspaceId, look)
  return { removed, place: next === null ? null : JSON.stringify(next) }
}

/** Where to look on, unless the customer was found or the file is at its end. */
async function lookThrough(
  tx: Tx,
  { workspaceId, keyring, customer }: ErasureScope,
  { importId, kind, from }: Look,
): Promise<'here' | 'nowhere' | number> {
  const mentions = mentionFinder(customer)
  // What stands across the end of the last look is seen whole.
  const start = Math.max(0, from - longestMention)
  let at = start
  let count = 0
  let rest = ''
  for await (const piece of readPieces(tx, () => keyring, { workspaceId, importId, kind }, start)) {
    const text = rest + piece.toString('latin1')
    if (mentions(text)) return 'here'
    rest = text.slice(-longestMention)
    at += piece.length
    if (++count >= piecesAtOnce && at > from) return at
  }
  return 'nowhere'
}

async function nextFile(tx: Tx, workspaceId: string, after: Look | null): Promise<Look | null> {
  const [file] = await tx<{ importId: string; kind: PieceFile['kind'] }[]>`
    select p.import_id as "importId", p.kind
    from lead_import_pieces p
    where p.workspace_id = ${workspaceId}
      and p.start = 0
      and (
        ${after === null}
        or (p.import_id, p.kind) > (${after?.importId ?? null}::uuid, ${after?.kind ?? null}::text)
      )
    order by p.import_id, p.kind
    limit 1`
  return file === undefined ? null : { ...file, from: 0 }
}

async function dropFiles(tx: Tx, { workspaceId, now }: ErasureScope, importId: string): Promise<number> {
  // Locked first, as a batch of a running import does: it then finds that the import is not its own any more.
  const [row] = await tx<{ wasOpen: boolean }[]>`
    update lead_imports i
    set expires_at = null,
      state = case when o.was_open then 'cancelled' else i.state end,
      problem = case when o.was_open then 'The file held a customer who was erased' else i.problem end,
      ended_at = coalesce(i.ended_at, ${now})
    from (
      select id, state not in ('done', 'failed', 'cancelled') as was_open
      from lead_imports
      where workspace_id = ${workspaceId}
        and id = ${importId}
      for update
    ) as o
    where i.workspace_id = ${workspaceId}
      and i.id = o.id
    returning o.was_open as "wasOpen"`
  const [files] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from lead_import_pieces
    where workspace_id = ${workspaceId}
      and import_id = ${importId}
      and start = 0`
  await tx`delete from lead_import_pieces where workspace_id = ${workspaceId} and import_id = ${importId}`
  await tx`delete from lead_import_dry_names where workspace_id = ${workspaceId} and import_id = ${importId}`
  publishImport(tx, workspaceId, importId)
  await endTracking(tx, workspaceId, importId, now)
  if (row?.wasOpen) {
    const actor = { type: 'system', id: null } as const
    const entry = { scopeId: workspaceId, actor, action: 'leads.import_cancelled', target: `import:${importId}` }
    await recordAudit(tx, entry, now)
  }
  return files?.count ?? 0
}
