import type { Db, Tx } from '../../../src/base/db.ts'

export type Gate = ReturnType<typeof gate>

/** Blocks callers of `pass` until the test opens it; `reached` resolves at the first call. */
export function gate() {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const pass = (): Promise<void> => {
    reached.resolve()
    return opened.promise
  }
  return { pass, reached: reached.promise, open: opened.resolve }
}

type Work = (tx: Tx) => Promise<unknown>

/** Takes locks and keeps them. Returns a function that runs `last` in the same transaction and commits it. */
export async function holdLocks(db: Db, lock: Work): Promise<(last?: Work) => Promise<void>> {
  const { pass, reached, open } = gate()
  let atLast: Work = async () => {}
  const holding = db.tx(async (tx) => {
    await lock(tx)
    await pass()
    await atLast(tx)
  })
  await Promise.race([reached, holding])
  return (last = async () => {}) => {
    atLast = last
    open()
    return holding
  }
}

/** Locks the conversations of a workspace, or one of them. */
export const holdConversations = ({ db, workspaceId }: { db: Db; workspaceId: string }, id: string | null = null) =>
  holdLocks(
    db,
    (tx) => tx`
      select from conversations
      where workspace_id = ${workspaceId}
        and (${id}::uuid is null or id = ${id}::uuid)
      for update`,
  )

/** Resolves when a session waits for a lock. Polls, because the database does not notify of it. */
export async function waitForLockWaiter({ db }: { db: Db }): Promise<void> {
  const waiting = () => db.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting()).length === 0);
}
