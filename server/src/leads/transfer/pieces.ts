import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/keyring.ts'

/** A file of an import, in sealed pieces: the uploaded one, or the one of refused rows. */
export interface PieceFile {
  workspaceId: string
  importId: string
  kind: 'file' | 'refused'
}

// A piece is bound to its place in its file, so that pieces cannot change places.
const place = ({ importId, kind }: PieceFile, start: number) => ({
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
    values (${file.workspaceId}, ${file.importId}, ${file.kind}, ${start}, ${keyring.seal(place(file, start), bytes)})`
}

/** The bytes from `from` on, a piece at a time. */
export async function* readPieces(sql: Sql, keyring: Keyring, file: PieceFile, from: number): AsyncGenerator<Buffer> {
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
    const bytes = keyring.open(place(file, piece.start), piece.bytes)
    if (piece.start + bytes.length <= next) return
    yield bytes.subarray(next - piece.start)
    next = piece.start + bytes.length
  }
}

export async function dropPieces(tx: Tx, workspaceId: string, importId: string, kind: 'refused' | null): Promise<void> {
  await tx`
    delete from lead_import_pieces
    where workspace_id = ${workspaceId}
      and import_id = ${importId}
      and (${kind}::text is null or kind = ${kind})`
}
