import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { recordEvents } from '../../events/record.ts'
import type { Actor } from '../../workspace/actor.ts'
import { type ActivityDetail, type ActivityReason, detailsBetween } from './activity.ts'
import type { ConversationChange } from './change.ts'
import type { Conversation } from './conversation.ts'
import { storeConversation } from './queries.ts'

/** Who changed it, and why if it was nobody's wish. */
export interface Cause {
  actor: Actor
  reason: ActivityReason | null
}

/**
 * Stores a changed conversation together with what the change means to the team and with its events, all sent at once,
 * under the lock that it was read with. Writes nothing where nothing changed.
 */
export async function commitChange(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  before: Conversation,
  { conversation, events }: ConversationChange,
  cause: Cause,
  now: Date,
): Promise<void> {
  await Promise.all([
    conversation === before ? null : storeConversation(tx, keyring, workspaceId, conversation),
    recordDifference(tx, workspaceId, before, conversation, cause, now),
    recordEvents(tx, keyring, workspaceId, events, now),
  ])
}

/** Keeps what lies between two states as lines that the team reads in the thread. */
export async function recordDifference(
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

/** The same for many conversations that one statement has changed. */
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
