import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'

const batchSize = 500

/** Opens the snoozed conversations whose time has come. For a timer; several nodes share the work. */
export async function wakeSnoozed(db: Db, clock: Clock): Promise<number> {
  let woken = 0
  for (;;) {
    const count = await db.tx((tx) => wakeBatch(tx, clock.now()))
    woken += count
    if (count < batchSize) return woken
  }
}

async function wakeBatch(tx: Tx, now: Date): Promise<number> {
  const woken = await tx`
    with due as (
      select workspace_id, id
      from conversations
      where snoozed_until <= ${now}
      order by snoozed_until
      limit ${batchSize}
      for update skip locked
    )
    update conversations c
    set status = 'open',
      snoozed_until = null,
      updated_at = greatest(c.updated_at, ${now})
    from due
    where c.workspace_id = due.workspace_id
      and c.id = due.id`
  return woken.count
}
