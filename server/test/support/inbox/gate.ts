import type { Db, Tx } from '../../../src/base/db.ts'

/** Where something waits until the test lets it go on. */
export interface Gate {
  /** Waits at the gate, each time that it comes by. */
  pass(): Promise<void>
  /** Resolves once something waits. */
  reached: Promise<void>
  open(): void
}

export function gate(): Gate {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    pass: () => {
      reached.resolve()
      return opened.promise
    },
    reached: reached.promise,
    open: opened.resolve,
  }
}

/** Holds the locks that this takes. Returns what commits `last` under them, and lets them go. */
export async function holdLocks(
  db: Db,
  lock: (tx: Tx) => Promise<unknown>,
): Promise<(last?: (tx: Tx) => Promise<unknown>) => Promise<void>> {
  const { pass, reached, open } = gate()
  let atLast: (tx: Tx) => Promise<unknown> = async () => {}
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
