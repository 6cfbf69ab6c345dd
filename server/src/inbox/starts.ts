import type { Tx } from '../base/db.ts'

/**
 * Waits until no platform call of these conversations can still be about to start. Every change of owner calls it
 * under the conversation's lock, before it commits: the lock keeps new calls from being allowed, and this waits for
 * the ones that were. It takes as long as a platform call, `startWithinMs` at most.
 */
export async function waitForStarts(tx: Tx, workspaceId: string, conversationIds: readonly string[]): Promise<void> {
  while (await mayStart(tx, workspaceId, conversationIds)) await tx`select pg_sleep(0.02)`
}

async function mayStart(tx: Tx, workspaceId: string, conversationIds: readonly string[]): Promise<boolean> {
  const rows = await tx`
    select d.message_id
    from dispatches d
    where d.workspace_id = ${workspaceId}
      and d.conversation_id = any(${conversationIds as string[]}::uuid[])
      and d.owner_epoch is not null
      and d.starting_until > clock_timestamp()
    limit 1`
  return rows.length > 0
}
