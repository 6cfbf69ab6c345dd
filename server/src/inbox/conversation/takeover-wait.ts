import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, NotYet, type Tx } from '../../base/db.ts'
import { areStarting } from './dispatches.ts'

/**
 * A platform call must have left within this time of being allowed (`send/call-platform.ts`). So it is also the longest
 * that a change of owner waits.
 */
export const takeoverWaitMs = 3_000
/** Longer than any call that is allowed may take to start, so that none begins between the last look and the change. */
const holdMs = takeoverWaitMs + 2_000
const lookEveryMs = 20

/**
 * Refuses a change of owner while a platform call of an agent in these conversations can still be about to start: the
 * transaction is undone, waits without a connection, and is done again. Whoever changes owners asks so under the
 * conversations' locks, which keep new calls from being allowed. `storeConversation` does it for every change it stores.
 */
export async function refuseWhileStarting(
  tx: Tx,
  workspaceId: string,
  conversationIds: readonly string[],
): Promise<void> {
  if (await areStarting(tx, workspaceId, conversationIds)) throw notYet(workspaceId, conversationIds)
}

/** To be thrown in the transaction that found calls which may still start. */
export const notYet = (workspaceId: string, conversationIds: readonly string[]): NotYet =>
  new NotYet((db) => waitForStarts(db, workspaceId, conversationIds))

/** It takes as long as the calls that are under way, `takeoverWaitMs` at most: no others may start meanwhile. */
async function waitForStarts(db: Db, workspaceId: string, conversationIds: readonly string[]): Promise<void> {
  await db.tx((tx) => holdStarts(tx, workspaceId, conversationIds))
  while (await areStarting(db.sql, workspaceId, conversationIds)) await sleep(lookEveryMs)
}

/** In the order of every other statement that locks several conversations. */
async function holdStarts(tx: Tx, workspaceId: string, conversationIds: readonly string[]): Promise<void> {
  await tx`
    with held as (
      select id
      from conversations
      where workspace_id = ${workspaceId}
        and id = any (${[...conversationIds]}::uuid[])
      order by id
      for update
    ),
    hold as (
      select id, clock_timestamp() + ${holdMs}::float8 * interval '1 millisecond' as until
      from held
    )
    update conversations c
    set starts_held_until = hold.until
    from hold
    where c.workspace_id = ${workspaceId}
      and c.id = hold.id`
}
