import type { Conversation } from '../conversation/conversation.ts'
import type { ConversationStatus } from '../conversation/conversation-state.ts'
import type { ConversationPatch } from '../ownership/update.ts'

/** What is to become of every conversation of a selection. */
export interface ManyChanges extends Pick<ConversationPatch, 'status' | 'snoozedUntil' | 'assignedTo' | 'labels'> {
  read?: boolean
}

/** What a change moved of a conversation, as it was before. */
export interface Former {
  id: string
  status: ConversationStatus
  snoozedUntil: Date | null
  assignedTo: string | null
  held: boolean
  unreadCount: number
  /** Labels that the change added and removed. */
  added: string[]
  removed: string[]
}

export function formerOf(before: Conversation, after: Conversation): Former {
  const { id, status, snoozedUntil, assignedTo, held, unreadCount } = before
  return {
    ...{ id, status, snoozedUntil, assignedTo, held, unreadCount },
    added: after.labelIds.filter((label) => !before.labelIds.includes(label)),
    removed: before.labelIds.filter((label) => !after.labelIds.includes(label)),
  }
}

/** What brings a conversation back to what it was before a change. */
export interface Undoing {
  patch: ConversationPatch
  /** How many messages are unread again; undefined where that stays. */
  unreadCount: number | undefined
  /** Agents may take it again. */
  isReleased: boolean
  /** Something of it was changed since, and stays as it is. */
  isLeft: boolean
}

// More than anybody counts; a thread is read from there.
const maxUnread = 1000

/** Each thing goes back alone, and only where it still is as the change left it: what was done since stays. */
export function undoingOf(now: Conversation, former: Former, changes: ManyChanges): Undoing {
  const patch: ConversationPatch = {}
  let isLeft = false
  if (changes.status !== undefined && !isStatus(former, changes)) {
    if (isStatus(now, changes)) Object.assign(patch, { status: former.status, snoozedUntil: former.snoozedUntil })
    else isLeft = true
  }
  const isAssigned = changes.assignedTo !== undefined && former.assignedTo !== changes.assignedTo
  const isStillAssigned = isAssigned && now.assignedTo === changes.assignedTo
  if (isStillAssigned) patch.assignedTo = former.assignedTo
  else if (isAssigned) isLeft = true
  const [add, remove] = [
    former.removed.filter((id) => !now.labelIds.includes(id)),
    former.added.filter((id) => now.labelIds.includes(id)),
  ]
  if (add.length + remove.length > 0) patch.labels = { add, remove }
  return {
    patch,
    unreadCount: unreadAgain(now, former, changes),
    isReleased: isStillAssigned && now.held && !former.held && now.owner.type === 'human',
    isLeft,
  }
}

function isStatus(one: Pick<Conversation, 'status' | 'snoozedUntil'>, { status, snoozedUntil }: ManyChanges): boolean {
  return one.status === status && one.snoozedUntil?.getTime() === snoozedUntil?.getTime()
}

function unreadAgain(now: Conversation, former: Former, { read }: ManyChanges): number | undefined {
  if (read === true && now.unreadCount === 0 && former.unreadCount > 0) return Math.min(former.unreadCount, maxUnread)
  if (read === false && now.unreadCount === 1 && former.unreadCount === 0) return 0
  return undefined
}
