import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { type DueWatch, watchDue } from '../../base/news/due-watch.ts'
import { systemActor } from '../../workspace/actor.ts'
import { recordActivities } from '../conversation/commit-change.ts'
import type { ConversationStatus } from '../conversation/conversation-state.ts'
import { conversationsTopic, tellTeam } from '../conversation/team-news.ts'

const batchSize = 500
const askEveryMs = 15_000
/** Of a busy inbox each change is news. */
const restMs = 3_000

/** Whether the time of a snoozed conversation has come. */
export function watchSnoozed({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(snoozed_until) as at
      from conversations`
    return row?.at ?? null
  }
  return watchDue({ db, clock }, { nextAt, askEveryMs, restMs, news: [{ topic: conversationsTopic }] })
}

/**
 * Opens the snoozed conversations whose time has come. For a timer; several nodes share the work. A customer who writes
 * opens theirs at once (`receive/receive-event.ts`).
 */
export async function wakeSnoozed(db: Db, clock: Clock): Promise<number> {
  let woken = 0
  for (;;) {
    const count = await db.tx((tx) => wakeBatch(tx, clock.now()))
    woken += count
    if (count < batchSize) return woken
  }
}

async function wakeBatch(tx: Tx, now: Date): Promise<number> {
  const woken = await tx<{ workspace_id: string; id: string; was: ConversationStatus }[]>`
    with due as (
      select workspace_id, id, status
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
      and c.id = due.id
    returning c.workspace_id, c.id, due.status as was`
  for (const [workspaceId, rows = []] of Map.groupBy(woken, (row) => row.workspace_id)) {
    const items = rows.map(({ id, was }) => ({
      conversationId: id,
      detail: { kind: 'status', from: was, to: 'open', snoozedUntil: null } as const,
    }))
    await recordActivities(tx, workspaceId, items, { actor: systemActor, reason: 'timer' }, now)
    tellTeam(
      tx,
      workspaceId,
      rows.map(({ id }) => id),
    )
  }
  return woken.count
}
