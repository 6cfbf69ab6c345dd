import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { Actor } from '../../workspace/actor.ts'
import { type ActivityDetail, type ActivityReason, detailsBetween } from './activity.ts'
import type { Conversation } from './conversation.ts'

/** Who changed it, and why if it was nobody's wish. */
export interface Cause {
  actor: Actor
  reason: ActivityReason | null
}

/** Keeps what a change means to the team, in its transaction; writes nothing where nothing of that kind changed. */
export async function recordChange(
  tx: Tx,
  workspaceId: string,
  before: Conversation,
  after: Conversation,
  cause: Cause,
  now: Date,
): Promise<void> {
  const items = detailsBetween(before, after).map((detail) => ({ conversationId: after.id, detail }))
  await recordActivities(tx, workspaceId, items, cause, now)
}

export async function recordActivities(
  tx: Tx,
  workspaceId: string,
  items: readonly { conversationId: string; detail: ActivityDetail }[],
  { actor, reason }: Cause,
  now: Date,
): Promise<void> {
  if (items.length === 0) return
  await tx`
    insert into conversation_activities (
      workspace_id, id, conversation_id, kind, detail, reason, actor_type, actor_id, created_at
    )
    select ${workspaceId}::uuid, a.id, a.conversation_id, a.kind, a.detail::jsonb, ${reason}, ${actor.type},
      ${actor.id}::uuid, ${now}
    from unnest(
      ${items.map(() => newId(now))}::uuid[],
      ${items.map(({ conversationId }) => conversationId)}::uuid[],
      ${items.map(({ detail }) => detail.kind)}::text[],
      ${items.map(({ detail }) => JSON.stringify(detail))}::text[]
    ) as a (id, conversation_id, kind, detail)`.execute()
}
