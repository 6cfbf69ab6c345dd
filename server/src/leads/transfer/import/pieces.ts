import type { Sql, Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { endStates, type ImportState } from './imports.ts'

/** A file of an import, in sealed pieces: the uploaded one, or the one of refused rows. */
export interface PieceFile {
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
    values (${file.workspaceId}, ${file.importId}, ${file.kind}, ${start}, ${keyring.seal(piecePlace(file, start), bytes)})`
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
    const bytes = keyring.open(piecePlace(file, piece.start), piece.bytes)
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
