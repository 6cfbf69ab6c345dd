import type { Db, Tx } from '../../../src/base/db.ts'

export type Gate = ReturnType<typeof gate>

/** Where something waits, each time that it comes by, until the test lets it go on; `reached` once it has come. */
export function gate() {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const pass = (): Promise<void> => {
    reached.resolve()
    return opened.promise
  }
  return { pass, reached: reached.promise, open: opened.resolve }
}

type Work = (tx: Tx) => Promise<unknown>

/** Holds the locks that this takes. Returns what commits `last` under them, and lets them go. */
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

/** The same for the conversations of a workspace, or one of them. */
export const holdConversations = ({ db, workspaceId }: { db: Db; workspaceId: string }, id: string | null = null) =>
  holdLocks(
    db,
    (tx) => tx`
      select from conversations
      where workspace_id = ${workspaceId}
        and (${id}::uuid is null or id = ${id}::uuid)
      for update`,
  )

/** Resolves once somebody waits for a lock in the database, which tells nobody: it is asked until it is so. */
export async function waitForLockWaiter({ db }: { db: Db }): Promise<void> {
  const waiting = () => db.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting()).length === 0);
}
