import { insertedRows } from '../../base/citus/few-rows.ts'
import { newId } from '../../base/id.ts'
import { columnNames } from '../../base/postgres/rows.ts'
import type { ThreadOwner } from '../../channels/channel-event.ts'
import {
  type ConsentDecision,
  type ConsentPurpose,
  type ConsentSource,
  consentPurposes,
} from '../../consents/consent.ts'
import { type NewEvent, recordEvents, recordOptInEvents } from '../../events/record.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { Priority } from '../../workspaces/service/service-settings.ts'
import { withGoal } from '../goals/goal-state.ts'
import type { ConversationChange, DraftOutcome } from './change.ts'
import type { ChangeTx, Conversation, ConversationRef } from './conversation.ts'
import type { ConversationStatus, Goal } from './conversation-state.ts'
import { shownConsent } from './customer.ts'
import { conversationEvent } from './opt-in-events.ts'
import { isSameOwner, writeOwner } from './owner.ts'
import { storeConversation } from './queries.ts'

/** Who made a change; `reason` is set if it was a side effect or automatic. */
export interface ChangeCause {
  actor: Actor
  reason: ActivityReason | null
}

/**
 * Stores a changed conversation with its goals, activities and events, in one round trip, under the lock that it was
 * read with, and returns it. Writes nothing if nothing changed.
 */
export async function commitChange(
  work: ChangeTx,
  before: Conversation,
  { conversation: changed, events }: ConversationChange,
  cause: ChangeCause,
): Promise<Conversation> {
  const { tx, keyring, workspaceId, now, service } = work
  const conversation = service === undefined || changed === before ? changed : withGoal(changed, service)
  await Promise.all([
    conversation === before ? null : storeConversation(work, conversation),
    recordDifference(work, before, conversation, cause),
    recordEvents(tx, keyring, workspaceId, events, now),
  ])
  return conversation
}

/** Records the differences between two states as activities of the thread. */
export async function recordDifference(
  work: ChangeTx,
  before: Conversation,
  after: Conversation,
  cause: ChangeCause,
): Promise<void> {
  const items = detailsBetween(before, after).map((detail) => ({ conversation: after, detail }))
  await recordActivities(work, items, cause)
}

/** A change of a conversation, as one of its activities. */
export interface ConversationActivity {
  conversation: ConversationRef
  detail: ActivityDetail
}

/** Records activities of many conversations that one statement has changed, and the events about them. */
export async function recordActivities(
  work: ChangeTx,
  items: readonly ConversationActivity[],
  cause: ChangeCause,
): Promise<void> {
  if (items.length === 0) return
  const { tx, workspaceId, now } = work
  const { actor, reason } = cause
  const rows = items.map(({ conversation, detail }) => {
    return { id: newId(now), conversationId: conversation.id, kind: detail.kind, detail: JSON.stringify(detail) }
  })
  const events = items.flatMap((item) => eventOfActivity(item, cause, now))
  const shared = tx`${workspaceId}::uuid, ${reason}::text, ${actor.type}::text, ${actor.id}::uuid, ${now}::timestamptz`
  const insert = tx`
    insert into conversation_activities (workspace_id, reason, actor_type, actor_id, created_at, ${columnNames(activityColumns)})
    ${insertedRows(tx, shared, rows, activityColumns)}`
  await recordOptInEvents(work, events, insert)
}

/** Returns the event about an activity that a workspace can ask for; none if its kind has none. */
export function eventOfActivity(
  { conversation, detail }: ConversationActivity,
  { actor, reason }: ChangeCause,
  at: Date,
): NewEvent[] {
  const cause = { actor, reason, at: at.toISOString() }
  switch (detail.kind) {
    case 'assignee': {
      const assignee = { assigned_to: detail.to, previous_assigned_to: detail.from }
      return [conversationEvent('conversation.assigned', conversation, { ...assignee, ...cause })]
    }
    case 'status': {
      const { to: status, from: previous_status, snoozedUntil: snoozed_until } = detail
      return [
        conversationEvent('conversation.status_changed', conversation, {
          ...{ status, previous_status, snoozed_until },
          ...cause,
        }),
      ]
    }
    case 'labels': {
      const labels = { added_label_ids: detail.added, removed_label_ids: detail.removed }
      return [conversationEvent('conversation.labelled', conversation, { ...labels, ...cause })]
    }
    default:
      return []
  }
}

const activityColumns = { uuid: ['id', 'conversationId'], text: ['kind'], jsonb: ['detail'] } as const

/** Why something changed without an explicit request. */
export const activityReasons = [
  'began',
  'customer_wrote',
  'sent',
  'phone',
  'timer',
  'watchdog',
  'agents_stopped',
  'key_ended',
  'merged',
  'round_robin',
  'least_busy',
  'capacity',
  'no_answer',
  'took_next',
] as const
export type ActivityReason = (typeof activityReasons)[number]

/** A change with its old and new value. */
export type ActivityDetail =
  | { kind: 'owner'; from: string; to: string }
  | { kind: 'status'; from: ConversationStatus; to: ConversationStatus; snoozedUntil: string | null }
  | { kind: 'assignee'; from: string | null; to: string | null }
  | { kind: 'team'; from: string | null; to: string | null }
  | { kind: 'labels'; added: string[]; removed: string[] }
  | { kind: 'priority'; from: Priority | null; to: Priority | null }
  /** A service-level goal was missed. */
  | { kind: 'goal'; goal: Goal; dueAt: string }
  /** A person decided on the draft of the agent `from`. */
  | { kind: 'draft'; from: string; to: DraftOutcome }
  /** Without `purpose`: about marketing. */
  | {
      kind: 'consent'
      purpose?: ConsentPurpose
      from: ConsentDecision | null
      to: ConsentDecision | null
      source: ConsentSource | null
    }
  | { kind: 'standby'; from: ThreadOwner | null; to: ThreadOwner | null }
  /** A person sent a message although a budget was used up. */
  | { kind: 'over_budget' }
  | { kind: 'task'; to: 'created' | 'done' | 'reopened' | 'deleted' }

/** An entry of the thread between the messages. */
export interface Activity {
  id: string
  detail: ActivityDetail
  reason: ActivityReason | null
  actor: Actor
  createdAt: Date
}

/** Returns one activity detail for each changed field. */
export function detailsBetween(before: Conversation, after: Conversation): ActivityDetail[] {
  const details: ActivityDetail[] = []
  if (!isSameOwner(before.owner, after.owner)) {
    details.push({ kind: 'owner', from: writeOwner(before.owner), to: writeOwner(after.owner) })
  }
  const snoozedUntil = after.snoozedUntil?.toISOString() ?? null
  if (before.status !== after.status || (before.snoozedUntil?.toISOString() ?? null) !== snoozedUntil) {
    details.push({ kind: 'status', from: before.status, to: after.status, snoozedUntil })
  }
  if (before.assignedTo !== after.assignedTo) {
    details.push({ kind: 'assignee', from: before.assignedTo, to: after.assignedTo })
  }
  if (before.teamId !== after.teamId) {
    details.push({ kind: 'team', from: before.teamId, to: after.teamId })
  }
  if (before.priority !== after.priority) {
    details.push({ kind: 'priority', from: before.priority, to: after.priority })
  }
  const added = after.labelIds.filter((id) => !before.labelIds.includes(id))
  const removed = before.labelIds.filter((id) => !after.labelIds.includes(id))
  if (added.length + removed.length > 0) details.push({ kind: 'labels', added, removed })
  for (const purpose of consentPurposes) {
    const [from, to] = [consentOf(before, purpose), consentOf(after, purpose)]
    const ofPurpose = purpose === 'marketing' ? {} : { purpose }
    const source = after.contact[purpose]?.source ?? null
    if (from !== to) details.push({ kind: 'consent', ...ofPurpose, from, to, source })
  }
  const [had, has] = [before.thread?.owner ?? null, after.thread?.owner ?? null]
  if (had !== has) details.push({ kind: 'standby', from: had, to: has })
  return details
}

const consentOf = ({ contact }: Conversation, purpose: ConsentPurpose): ConsentDecision | null =>
  shownConsent(contact, purpose)?.decision ?? null
