import type { Sql, Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import type { ErasureScope, ErasureStep, RemovedCounts } from '../../../base/erasure.ts'
import { createMentionTest, finishedStep, maxMentionLength } from '../../../base/erasure.ts'
import { conflict } from '../../../base/errors.ts'
import { recordAudit } from '../../../team/audit.ts'
import { publishImport } from '../../../team/live-updates.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { checkStoredBytes, endStates, type ImportRow, type ImportState, lockImport } from './imports.ts'
import { endTracking } from './track-leads.ts'

/** File of an import, stored in encrypted pieces: the upload, or the rejected rows. */
interface PieceFile {
  workspaceId: string
  importId: string
  kind: 'file' | 'refused'
}

// Binds a piece to its position in the file, so that pieces cannot be swapped.
export const pieceContext = ({ importId, kind }: Omit<PieceFile, 'workspaceId'>, start: number) => ({
  table: 'lead_import_pieces',
  row: importId,
  column: `${kind} ${start}`,
})

export async function insertPiece(
  tx: Tx,
  keyring: Keyring,
  file: PieceFile,
  start: number,
  bytes: Uint8Array,
): Promise<void> {
  await tx`
    insert into lead_import_pieces (workspace_id, import_id, kind, start, bytes)
    values (${file.workspaceId}, ${file.importId}, ${file.kind}, ${start}, ${keyring.encrypt(pieceContext(file, start), bytes)})`
}

/** Yields the bytes from `from` on, by piece. Gets the keyring for each piece, since keys may be rotated meanwhile. */
export async function* readPieces(
  sql: Sql,
  getKeyring: () => Keyring | Promise<Keyring>,
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
    const keyring = await getKeyring()
    const bytes = keyring.decrypt(pieceContext(file, piece.start), piece.bytes)
    if (piece.start + bytes.length <= next) return
    yield bytes.subarray(next - piece.start)
    next = piece.start + bytes.length
  }
}

export async function deletePieces(
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

/** Deletes data an import no longer needs. The file is kept after a dry run, which can be started again. */
export async function deleteUnneeded(tx: Tx, workspaceId: string, importId: string, state: ImportState): Promise<void> {
  await tx`
    delete from lead_import_dry_names
    where workspace_id = ${workspaceId}
      and import_id = ${importId}`
  if (endStates.includes(state)) await deletePieces(tx, workspaceId, importId, 'file')
}

const pieceBytes = 256 * 1024

/**
 * Appends the body to the file, one piece at a time: pieces of an interrupted request are kept, and the next request
 * continues after them. Reads the stream no faster than pieces are stored.
 */
export async function appendUpload(
  deps: LeadDeps,
  workspaceId: string,
  importId: string,
  offset: number,
  body: AsyncIterable<Buffer>,
): Promise<void> {
  let start = offset
  const storePiece = async (bytes: Buffer) => {
    // Gets the keyring per piece: an upload may last longer than rotated keys may be held.
    const keyring = await deps.keyStore.keyring(workspaceId)
    await deps.db.tx((tx) => append(tx, keyring, { workspaceId, importId, kind: 'file' }, start, bytes))
    start += bytes.length
  }
  let buffered: Buffer[] = []
  let length = 0
  for await (const bytes of body) {
    buffered.push(bytes)
    length += bytes.length
    if (length < pieceBytes) continue
    await storePiece(Buffer.concat(buffered))
    buffered = []
    length = 0
  }
  // An empty body only checks the offset.
  if (length > 0 || start === offset) await storePiece(Buffer.concat(buffered))
}

async function append(tx: Tx, keyring: Keyring, file: PieceFile, start: number, bytes: Buffer): Promise<void> {
  const { workspaceId, importId } = file
  checkOffset(await lockImport(tx, workspaceId, importId), start, bytes.length)
  if (bytes.length === 0) return
  await checkStoredBytes(tx, workspaceId, bytes.length)
  const end = start + bytes.length
  await insertPiece(tx, keyring, file, start, bytes)
  await tx`
    update lead_imports
    set uploaded = ${end},
      state = case when size = ${end} then 'ready' else state end
    where workspace_id = ${workspaceId}
      and id = ${importId}`
  publishImport(tx, workspaceId, importId)
}

function checkOffset(row: ImportRow, start: number, length: number): void {
  if (row.state !== 'uploading') throw conflict(`The upload has ended: the import is ${row.state}`)
  if (row.uploaded !== start) {
    const message = 'offset must equal the number of uploaded bytes, see `data.uploadedBytes`'
    throw conflict(message, { uploadedBytes: row.uploaded })
  }
  if (start + length > row.size) throw conflict('The file is longer than the declared size', { size: row.size })
}

// 256 KiB each.
const piecesPerStep = 16

/** Next position to search: a file of an import, and an offset in it. */
interface SearchPosition {
  importId: string
  kind: PieceFile['kind']
  from: number
}

/**
 * Searches stored import files for the customer, a few MiB per step. A file that mentions the customer is deleted with
 * its rejected rows, and its import is cancelled if still open: it would otherwise create the customer's lead again.
 */
export async function eraseImportFiles(tx: Tx, scope: ErasureScope, place: string | null): Promise<ErasureStep> {
  const position = place === null ? await nextFile(tx, scope.workspaceId, null) : (JSON.parse(place) as SearchPosition)
  if (position === null) return finishedStep
  const found = await searchPieces(tx, scope, position)
  const removed: RemovedCounts =
    found === 'here' ? { importFiles: await deleteFiles(tx, scope, position.importId) } : {}
  const next =
    typeof found === 'number' ? { ...position, from: found } : await nextFile(tx, scope.workspaceId, position)
  return { removed, position: next === null ? null : JSON.stringify(next) }
}

/** Returns the next offset, or whether the customer was found or the file ended. */
async function searchPieces(
  tx: Tx,
  { workspaceId, keyring, customer }: ErasureScope,
  { importId, kind, from }: SearchPosition,
): Promise<'here' | 'nowhere' | number> {
  const mentionsCustomer = createMentionTest(customer)
  // Overlaps the previous step, so that a mention across its end is found.
  const start = Math.max(0, from - maxMentionLength)
  let at = start
  let count = 0
  let rest = ''
  for await (const piece of readPieces(tx, () => keyring, { workspaceId, importId, kind }, start)) {
    const text = rest + piece.toString('latin1')
    if (mentionsCustomer(text)) return 'here'
    rest = text.slice(-maxMentionLength)
    at += piece.length
    if (++count >= piecesPerStep && at > from) return at
  }
  return 'nowhere'
}

async function nextFile(tx: Tx, workspaceId: string, after: SearchPosition | null): Promise<SearchPosition | null> {
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

async function deleteFiles(tx: Tx, { workspaceId, now }: ErasureScope, importId: string): Promise<number> {
  // Locked first, like batches of a running import, which then notice that the import was cancelled.
  const [row] = await tx<{ wasOpen: boolean }[]>`
    update lead_imports i
    set expires_at = null,
      state = case when o.was_open then 'cancelled' else i.state end,
      problem = case when o.was_open then 'The file contained an erased customer' else i.problem end,
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
