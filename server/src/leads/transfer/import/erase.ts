import type { Tx } from '../../../base/db.ts'
import {
  type ErasureScope,
  type ErasureStep,
  longestMention,
  mentionFinder,
  nothingLeft,
  type Removed,
} from '../../../base/erasure.ts'
import { recordAudit } from '../../../team/audit.ts'
import { announceImport } from '../../../team/team-news.ts'
import { type PieceFile, readPieces } from './pieces.ts'
import { endTracking } from './track.ts'

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
  announceImport(tx, workspaceId, importId)
  await endTracking(tx, workspaceId, importId, now)
  if (row?.wasOpen) {
    const actor = { type: 'system', id: null } as const
    const entry = { scopeId: workspaceId, actor, action: 'leads.import_cancelled', target: `import:${importId}` }
    await recordAudit(tx, entry, now)
  }
  return files?.count ?? 0
}
