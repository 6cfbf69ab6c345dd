import type { Sql, Tx } from '../../../base/db.ts'
import { conflict } from '../../../base/errors.ts'
import { lockWorkspace } from '../../../workspace/workspace.ts'
import { FileProblem } from '../file/file-problem.ts'
import type { ImportRow } from './imports.ts'

export const maxFileBytes = 1024 ** 3
export const maxOpenImports = 10
export const maxStoredBytes = 2 * maxFileBytes
// A row of two bytes is refused in fifty.
const maxRefusedBytes = maxFileBytes / 4
const maxDryCreated = 5_000_000

const kept = (sql: Sql, workspaceId: string) => sql`
  from lead_imports
  where workspace_id = ${workspaceId}
    and (expires_at is not null or state in ('running', 'paused'))`

const isOpen = (sql: Sql) => sql`state in ('uploading', 'ready', 'running', 'paused', 'checked')`

/** Throws 409 when the workspace has as many imports open as it may. Of several at a time one counts after the other. */
export async function checkOpenImports(tx: Tx, workspaceId: string): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  const [row] = await tx<{ open: number }[]>`
    select count(*)::int as open
    ${kept(tx, workspaceId)}
      and ${isOpen(tx)}`
  if ((row?.open ?? 0) < maxOpenImports) return
  throw conflict(`${maxOpenImports} imports are open: finish or cancel one of them first`, { open: row?.open })
}

/** Throws 409 when so many more bytes are too many. What is stored counts, whatever sizes were told. */
export async function checkStoredBytes(tx: Tx, workspaceId: string, more: number): Promise<void> {
  const [row] = await tx<{ stored: number }[]>`
    select coalesce(sum(refused_bytes + case when ${isOpen(tx)} then uploaded else 0 end), 0)::float8 as stored
    ${kept(tx, workspaceId)}`
  if ((row?.stored ?? 0) + more <= maxStoredBytes) return
  throw conflict(
    'The files of imports take up the 2 GiB that a workspace has: cancel an import that is not needed, or wait until refused rows are removed (see `filesUntil`)',
    { storedBytes: row?.stored },
  )
}

/** Ends the run of an import that would store more about its rows than a file may have. */
export function checkGrowth(row: ImportRow, refusedBytes: number): void {
  if (row.refused_bytes + refusedBytes > maxRefusedBytes) {
    throw new FileProblem(
      'The refused rows would take more than 256 MiB: mend the file, or its mapping, and begin again',
    )
  }
  if (row.dry_run && row.created >= maxDryCreated) {
    throw new FileProblem(
      'A dry run goes up to 5,000,000 new leads: begin again without one, or with a part of the file',
    )
  }
}
