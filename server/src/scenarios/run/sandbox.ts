import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { conflict } from '../../base/errors.ts'
import { addWorkspace } from '../../workspaces/change.ts'
import { publishChange } from '../../workspaces/workspace.ts'

export interface SandboxDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
}

/** How long a sandbox lives if the process that made it ends; longer than the longest run. */
const maxAgeMs = 90 * 60_000
/** Of an installation, so that runs cannot fill it with workspaces. */
export const maxSandboxes = 24

/** Creates a workspace without members, in which nothing but a connection of the simulator is possible. */
export async function createSandbox(
  { db, keyStore, clock }: SandboxDeps,
  name: string,
  createdBy: { type: 'user' | 'token'; id: string },
): Promise<string> {
  const now = clock.now()
  return db.tx(async (tx) => {
    const [{ count = 0 } = {}] = await tx<{ count: number }[]>`
      select count(*)::integer as count
      from workspaces
      where sandbox_until > ${now}`
    if (count >= maxSandboxes) throw conflict('Too many scenarios are running. Wait until others have ended.')
    const input = { name, ownerId: null, createdBy, agentWatchdogMinutes: 60, dailyLeadQuota: 10_000 }
    const { id } = await addWorkspace(tx, keyStore, input, now)
    await tx`
      update workspaces
      set sandbox_until = ${new Date(now.getTime() + maxAgeMs)}
      where id = ${id}`
    return id
  })
}

/** Removes sandboxes that a process has left behind. Returns how many. */
export async function removeOldSandboxes(deps: Pick<SandboxDeps, 'db' | 'clock'>): Promise<number> {
  const rows = await deps.db.sql<{ id: string }[]>`
    select id
    from workspaces
    where sandbox_until <= ${deps.clock.now()}`
  for (const { id } of rows) await removeSandbox(deps.db, id)
  return rows.length
}

/** Deletes a sandbox with everything in it. Does nothing to a workspace of customers. */
export async function removeSandbox(db: Db, workspaceId: string): Promise<void> {
  await db.tx(async (tx) => {
    const [row] = await tx`
      select id
      from workspaces
      where id = ${workspaceId}
        and sandbox_until is not null
      for update`
    if (row === undefined) return
    for (const { table, column } of await tablesInOrder(tx)) {
      await tx`
        delete from ${tx(table)}
        where ${tx(column)} = ${workspaceId}`
    }
    await tx`
      delete from workspaces
      where id = ${workspaceId}`
    await publishChange(tx, workspaceId)
  })
}

interface WorkspaceTable {
  table: string
  /** Column with the workspace's id; `workspace_id` if it has both. */
  column: string
}

/**
 * Returns the tables with rows of workspaces, those that refer to others first. They are read from the database, so that
 * a table of a later migration is not forgotten.
 */
async function tablesInOrder(tx: Tx): Promise<WorkspaceTable[]> {
  const tables = await tx<WorkspaceTable[]>`
    select c.relname as "table", max(a.attname::text) filter (where a.attname in ('workspace_id', 'scope_id')) as "column"
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p')
      and not c.relispartition
    group by c.relname
    having bool_or(a.attname in ('workspace_id', 'scope_id'))
    order by c.relname`
  const references = await tx<{ from: string; to: string }[]>`
    select c.relname as "from", f.relname as "to"
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_class f on f.oid = k.confrelid
    where k.contype = 'f'
      and k.conparentid = 0
      and c.relnamespace = current_schema()::regnamespace
      and c.oid <> f.oid`
  const ordered: WorkspaceTable[] = []
  for (let pending: readonly WorkspaceTable[] = tables; pending.length > 0; ) {
    const names = new Set(pending.map(({ table }) => table))
    const referred = new Set(references.flatMap(({ from, to }) => (from !== to && names.has(from) ? to : [])))
    const free = pending.filter(({ table }) => !referred.has(table))
    // A circle of references would never end; the database then refuses the first of them.
    const next = free.length === 0 ? pending : free
    ordered.push(...next)
    pending = pending.filter((one) => !next.includes(one))
  }
  return ordered
}
