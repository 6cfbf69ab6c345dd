import type { Actor } from '../../workspace/actor.ts'
import type { Conversation } from './conversation.ts'
import type { ConversationStatus } from './conversation-state.ts'
import { sameOwner, writeOwner } from './owner.ts'

/** Why something changed that nobody had asked for in so many words. */
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
] as const
export type ActivityReason = (typeof activityReasons)[number]

/** What changed, as it was and as it is. */
export type ActivityDetail =
  | { kind: 'owner'; from: string; to: string }
  | { kind: 'status'; from: ConversationStatus; to: ConversationStatus; snoozedUntil: string | null }
  | { kind: 'assignee'; from: string | null; to: string | null }
  | { kind: 'labels'; added: string[]; removed: string[] }

/** A line of the thread between the messages. */
export interface Activity {
  id: string
  detail: ActivityDetail
  reason: ActivityReason | null
  actor: Actor
  createdAt: Date
}

/** What the team is told of a change, line by line; nothing of what stayed. */
export function detailsBetween(before: Conversation, after: Conversation): ActivityDetail[] {
  const details: ActivityDetail[] = []
  if (!sameOwner(before.owner, after.owner)) {
    details.push({ kind: 'owner', from: writeOwner(before.owner), to: writeOwner(after.owner) })
  }
  const snoozedUntil = after.snoozedUntil?.toISOString() ?? null
  if (before.status !== after.status || (before.snoozedUntil?.toISOString() ?? null) !== snoozedUntil) {
    details.push({ kind: 'status', from: before.status, to: after.status, snoozedUntil })
  }
  if (before.assignedTo !== after.assignedTo) {
    details.push({ kind: 'assignee', from: before.assignedTo, to: after.assignedTo })
  }
  const added = after.labelIds.filter((id) => !before.labelIds.includes(id))
  const removed = before.labelIds.filter((id) => !after.labelIds.includes(id))
  if (added.length + removed.length > 0) details.push({ kind: 'labels', added, removed })
  return details
}
