import type { Tx } from '../../../base/db.ts'
import { type ApiError, conflict } from '../../../base/errors.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { announceImport } from '../../../team/team-news.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { type ImportRow, lockImport } from './imports.ts'
import { checkStoredBytes } from './limits.ts'
import { type PieceFile, putPiece } from './pieces.ts'

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
