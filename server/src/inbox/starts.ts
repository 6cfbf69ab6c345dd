import type { Sql, Tx } from '../base/db.ts'

/** SQL: whether a platform call of an agent's send, allowed under another owner's epoch, can still be about to start. */
export const mayStart = (sql: Sql, workspaceId: string, conversationId: string, ownerEpoch: number) => sql`
  exists (
    select 1
    from dispatches d
    where d.workspace_id = ${workspaceId}
      and d.conversation_id = ${conversationId}
      and d.owner_epoch <> ${ownerEpoch}
      and d.starting_until > clock_timestamp()
  )`

/**
 * Waits until no such call is left. Whoever changes the owner does so under the conversation's lock, before the change
 * is committed: the lock keeps new calls from being allowed, and this waits for the one that was. It takes as long as
 * that platform call, `startWithinMs` at most.
 */
export async function waitForStarts(
  tx: Tx,
  workspaceId: string,
  conversationId: string,
  ownerEpoch: number,
): Promise<void> {
  for (;;) {
    const [row] = await tx<{ may_start: boolean }[]>`
      select ${mayStart(tx, workspaceId, conversationId, ownerEpoch)} as may_start`
    if (!row?.may_start) return
    await tx`select pg_sleep(0.01)`
  }
}
