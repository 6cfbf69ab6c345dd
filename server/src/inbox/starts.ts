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
 * Waits until no platform call of an agent in these conversations can still be about to start. Whoever changes owners
 * does so under the conversations' locks, before the change is committed: the locks keep new calls from being allowed,
 * and this waits for those that were. It takes as long as such a call, `startWithinMs` at most. `storeConversation`
 * does it for every change that it stores.
 */
export async function waitForStarts(tx: Tx, workspaceId: string, conversationIds: readonly string[]): Promise<void> {
  for (;;) {
    const starting = await tx`
      select d.message_id
      from dispatches d
      where d.workspace_id = ${workspaceId}
        and d.conversation_id = any (${[...conversationIds]}::uuid[])
        and d.owner_epoch is not null
        and d.starting_until > clock_timestamp()
      limit 1`
    if (starting.length === 0) return
    await tx`select pg_sleep(0.01)`
  }
}
