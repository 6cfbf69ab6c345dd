import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { type ChangeDeps, inWorkspace, publishConversations, type Scope } from '../conversation/conversation.ts'
import { opaqueWorkspaceId, requireLocked } from '../conversation/queries.ts'

const batchSize = 500
export const maxSilenceDays = 90

/** Reminds a person at a time, unless the customer writes before. */
export interface SilenceReminder {
  userId: string
  remindAt: Date
}

/** Sets the reminder of a conversation in place of an earlier one; null removes it. Throws 404. */
export function setSilenceReminder(
  deps: ChangeDeps,
  scope: Scope,
  id: string,
  reminder: SilenceReminder | null,
): Promise<void> {
  const { workspaceId } = scope
  return inWorkspace(deps, workspaceId, async (work) => {
    const { tx, now } = work
    const conversation = await requireLocked(work, scope, id)
    publishConversations(tx, workspaceId, [conversation.id])
    if (reminder === null) {
      await tx`
        delete from silence_reminders
        where workspace_id = ${workspaceId}
          and conversation_id = ${conversation.id}`
      return
    }
    const { userId, remindAt } = reminder
    await tx`
      insert into silence_reminders (workspace_id, conversation_id, user_id, remind_at, inbound_id, created_at)
      values (${workspaceId}, ${conversation.id}, ${userId}, ${remindAt}, ${conversation.inbound.newest}, ${now})
      on conflict (workspace_id, conversation_id) do update
      set user_id = excluded.user_id,
        remind_at = excluded.remind_at,
        inbound_id = excluded.inbound_id,
        created_at = excluded.created_at`
  })
}

/** Returns the reminder of a conversation; null if there is none, or the customer has written since it was set. */
export async function findSilenceReminder(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  newestInboundId: string | null,
): Promise<SilenceReminder | null> {
  const [reminder] = await sql<SilenceReminder[]>`
    select user_id as "userId", remind_at as "remindAt"
    from silence_reminders
    where workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and conversation_id = ${conversationId}
      and inbound_id is not distinct from ${newestInboundId}::uuid`
  return reminder ?? null
}

/**
 * Ends the reminders that are due, and notifies the person of each whose customer has not written since. Compared only
 * now, so that receiving a message costs nothing. Called by the snooze timer on any node: deleting the row decides which
 * of them notifies. Returns how many it has ended.
 */
export async function remindOfSilence(db: Db, clock: Clock): Promise<number> {
  const now = clock.now()
  const due = await db.sql<{ id: string }[]>`
    select distinct workspace_id as id
    from silence_reminders
    where remind_at <= ${now}`
  let ended = 0
  for (const { id } of due) ended += await db.tx((tx) => endDue(tx, id, now))
  return ended
}

interface EndedReminder {
  conversationId: string
  userId: string
  createdAt: Date
  isSilent: boolean
}

async function endDue(tx: Tx, workspaceId: string, now: Date): Promise<number> {
  const ended = await tx<EndedReminder[]>`
    with due as (
      select conversation_id
      from silence_reminders
      where workspace_id = ${workspaceId}
        and remind_at <= ${now}
      order by remind_at
      limit ${batchSize}
      for update skip locked
    ),
    ended as (
      delete from silence_reminders r
      using due
      where r.workspace_id = ${workspaceId}
        and r.conversation_id = due.conversation_id
      returning r.conversation_id, r.user_id, r.inbound_id, r.created_at
    )
    select e.conversation_id as "conversationId", e.user_id as "userId", e.created_at as "createdAt",
      c.newest_inbound_id is not distinct from e.inbound_id as "isSilent"
    from ended e
    join conversations c
      on c.workspace_id = ${workspaceId}
      and c.id = e.conversation_id`
  const silent = ended.filter(({ isSilent }) => isSilent)
  const endedIds = ended.map(({ conversationId }) => conversationId)
  publishConversations(tx, workspaceId, endedIds)
  const notifications = silent.map(({ conversationId, userId, createdAt }) => ({
    ...{ kind: 'silence' as const, userId, conversationId, actor: systemActor },
    cause: `${conversationId} ${createdAt.toISOString()}`,
  }))
  await recordNotifications(tx, workspaceId, notifications, now)
  return ended.length
}
