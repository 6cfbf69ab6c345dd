import type { Clock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { setUpdatedNow } from '../conversation/activity-columns.ts'
import { recordActivities } from '../conversation/commit-change.ts'
import { type ChangeTx, conversationsTopic, inWorkspace, publishConversations } from '../conversation/conversation.ts'
import type { ConversationStatus } from '../conversation/conversation-state.ts'

const batchSize = 500
const pollEveryMs = 15_000
/** In a busy inbox every change wakes the timer. */
const minPauseMs = 3_000

/** Watches for snoozed conversations, and reminders of silent customers, that are due. */
export function watchSnoozed({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [[snoozed], [silent]] = await Promise.all([
      db.sql<{ at: Date | null }[]>`select min(snoozed_until) as at from conversations`,
      db.sql<{ at: Date | null }[]>`select min(remind_at) as at from silence_reminders`,
    ])
    const times = [snoozed, silent].flatMap((row) => row?.at ?? [])
    return times.length === 0 ? null : new Date(Math.min(...times.map(Number)))
  }
  const watchedTopics = [{ topic: conversationsTopic }]
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, minPauseMs, watchedTopics })
}

/**
 * Reopens snoozed conversations that are due. Called by a timer; several nodes share the work. A customer message
 * reopens a conversation at once (`receive/plan-event.ts`).
 */
export async function reopenSnoozed(db: Db, keyStore: KeyStore, clock: Clock): Promise<number> {
  let reopened = 0
  for (;;) {
    const workspaceIds = await listDue(db.sql, clock.now())
    let count = 0
    for (const workspaceId of new Set(workspaceIds)) {
      count += await inWorkspace({ db, keyStore, clock }, workspaceId, reopenBatch)
    }
    reopened += count
    // Other nodes hold the locks of the remaining rows.
    if (workspaceIds.length < batchSize || count === 0) return reopened
  }
}

/** Returns the workspace id of each due conversation, in due order, at most `batchSize`. */
async function listDue(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select workspace_id as id
    from conversations
    where snoozed_until <= ${now}
    order by snoozed_until
    limit ${batchSize}`
  return rows.map(({ id }) => id)
}

async function reopenBatch(work: ChangeTx): Promise<number> {
  const { tx, workspaceId, now } = work
  const rows = await tx<{ id: string; connectionId: string; was: ConversationStatus }[]>`
    with due as (
      select id, status
      from conversations
      where workspace_id = ${workspaceId}
        and snoozed_until <= ${now}
      order by snoozed_until
      limit ${batchSize}
      for update skip locked
    )
    update conversations c
    set status = 'open',
      snoozed_until = null,
      ${setUpdatedNow(tx, now)}
    from due
    where c.workspace_id = ${workspaceId}
      and c.id = due.id
    returning c.id, c.connection_id as "connectionId", due.status as was`
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  const items = rows.map((conversation) => ({
    conversation,
    detail: { kind: 'status', from: conversation.was, to: 'open', snoozedUntil: null } as const,
  }))
  await recordActivities(work, items, { actor: systemActor, reason: 'timer' })
  publishConversations(tx, workspaceId, ids)
  return ids.length
}
