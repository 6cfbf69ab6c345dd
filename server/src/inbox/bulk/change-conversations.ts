import type { Tx } from '../../base/db.ts'
import { type NewNotification, recordNotifications } from '../../notifications/record-notifications.ts'
import { addToAudit } from '../../team/audit.ts'
import type { TeamActor } from '../../team/member.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { applyPatch, type ConversationPatch, checkAssignee, checkLabels } from '../assignment/update-conversation.ts'
import { lockByIds } from '../conversation/batch-queries.ts'
import { withUpdatedAt } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import {
  type ChangeTx,
  type Conversation,
  type InboxDeps,
  inWorkspace,
  type WorkspaceTx,
} from '../conversation/conversation.ts'
import type { ConversationStatus } from '../conversation/conversation-state.ts'
import { decryptMessageId } from '../conversation/message.ts'
import { findNewestInbound } from '../conversation/message-queries.ts'
import { sendReadReceipt } from '../read/mark-read.ts'

/** Conversations per request. A larger selection is sent as several requests with the same `batchId`. */
export const maxPerRequest = 50

export interface BulkChangeRequest {
  /** Groups the requests of one selection: they form one entry of the audit log. */
  batchId: string
  ids: readonly string[]
  changes: BulkChanges
}

export interface BulkChangeResult {
  /** Current state of all existing conversations of the request. */
  conversations: Conversation[]
  /** Previous state of those that changed. */
  former: PreviousState[]
}

/**
 * Applies the same changes to many conversations, all or none. Skips conversations that do not exist; values that are
 * already set change nothing. Notifies new assignees. Sends read receipts to the platform after the commit. Throws 400
 * for an assignee who is not a member and for unknown labels.
 */
export async function changeConversations(
  deps: InboxDeps,
  workspaceId: string,
  actor: TeamActor,
  { batchId, ids, changes }: BulkChangeRequest,
): Promise<BulkChangeResult> {
  const { changed, read } = await inWorkspace(deps, workspaceId, async (work) => {
    const { tx, keyring, now } = work
    if (changes.labels !== undefined) await checkLabels(tx, workspaceId, changes.labels.add, 'changes.addLabelIds')
    if (changes.assignedTo) await checkAssignee(tx, workspaceId, changes.assignedTo, 'changes.assignedTo')
    const lockedConversations = await lockByIds({ tx, keyring, workspaceId }, ids)
    const newest = await newestInbounds(
      { tx, keyring, workspaceId },
      changes.read === undefined ? [] : lockedConversations,
    )
    const changed = await commitAll(
      work,
      actor,
      lockedConversations.map((before) => ({ before, after: applyChanges(before, changes, actor, newest, now) })),
    )
    await recordNotifications(tx, workspaceId, notificationsFor(changed, actor, batchId), now)
    await recordBulkAction(tx, workspaceId, actor, 'conversations.bulk_changed', batchId, changed, now)
    return { changed, read: changed.flatMap((one) => readReceiptOf(one, newest)) }
  })
  for (const { conversation, externalId } of read) await sendReadReceipt(deps, workspaceId, conversation, externalId)
  return {
    conversations: changed.map(({ after }) => after),
    former: changed.filter(isChanged).map(({ before, after }) => previousStateOf(before, after)),
  }
}

interface ConversationDiff {
  before: Conversation
  after: Conversation
}

const isChanged = ({ before, after }: ConversationDiff): boolean => before !== after

function applyChanges(
  before: Conversation,
  { read, ...patch }: BulkChanges,
  actor: TeamActor,
  newest: ReadonlyMap<string, string>,
  now: Date,
): Conversation {
  const { conversation } = applyPatch(before, patch, actor, now)
  if (read === true && before.unreadCount > 0) return withUpdatedAt({ ...conversation, unreadCount: 0 }, now)
  // Unread means one unread customer message; without any, the conversation stays read.
  const isRead = read === false && before.unreadCount === 0 && newest.has(before.id)
  return isRead ? withUpdatedAt({ ...conversation, unreadCount: 1 }, now) : conversation
}

/** Maximum number of pushed notifications, as many as an open page shows at once; the notification list has all. */
const maxPushed = 3

/** Notifies assignees once per conversation and batch, also if the change is undone and repeated. */
function notificationsFor(changed: readonly ConversationDiff[], actor: TeamActor, batchId: string): NewNotification[] {
  const reassigned = changed.filter(({ before, after }) => after.assignedTo !== before.assignedTo)
  return reassigned.flatMap(({ after: { id, assignedTo } }, n): NewNotification[] => {
    if (assignedTo === null) return []
    const cause = `${batchId} ${id}`
    return [{ kind: 'assigned', cause, userId: assignedTo, conversationId: id, isPushed: n < maxPushed, actor }]
  })
}

/** Returns the platform id of the newest customer message by conversation id. */
async function newestInbounds(
  { tx, keyring, workspaceId }: WorkspaceTx,
  conversations: readonly Conversation[],
): Promise<Map<string, string>> {
  const rows = await Promise.all(conversations.map(({ id }) => findNewestInbound(tx, workspaceId, id)))
  const ids = rows.map((row) => (row === undefined ? null : decryptMessageId(keyring, row)))
  return new Map(conversations.flatMap(({ id }, n) => (ids[n] == null ? [] : [[id, ids[n]] as const])))
}

function readReceiptOf({ before, after }: ConversationDiff, newest: ReadonlyMap<string, string>) {
  const externalId = newest.get(after.id)
  const isRead = before.unreadCount > 0 && after.unreadCount === 0
  return isRead && externalId !== undefined ? [{ conversation: after, externalId }] : []
}

/** Stores what has changed, and returns all as it is stored. */
export function commitAll(
  work: ChangeTx,
  actor: TeamActor,
  changed: readonly ConversationDiff[],
): Promise<ConversationDiff[]> {
  const cause = { actor, reason: null }
  return Promise.all(
    changed.map(async (one) => {
      if (!isChanged(one)) return one
      const { before, after } = one
      return { before, after: await commitChange(work, before, { conversation: after, events: [] }, cause) }
    }),
  )
}

export async function recordBulkAction(
  tx: Tx,
  scopeId: string,
  actor: TeamActor,
  action: 'conversations.bulk_changed' | 'conversations.bulk_undone',
  batchId: string,
  changed: readonly ConversationDiff[],
  now: Date,
): Promise<void> {
  const count = changed.filter(isChanged).length
  if (count > 0) await addToAudit(tx, { scopeId, actor, action, target: `batch:${batchId}` }, count, now)
}

export interface BulkChanges extends Pick<ConversationPatch, 'status' | 'snoozedUntil' | 'assignedTo' | 'labels'> {
  read?: boolean
}

/** Previous values of the fields that a change can set. */
export interface PreviousState {
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

export function previousStateOf(before: Conversation, after: Conversation): PreviousState {
  const { id, status, snoozedUntil, assignedTo, held, unreadCount } = before
  return {
    ...{ id, status, snoozedUntil, assignedTo, held, unreadCount },
    added: after.labelIds.filter((label) => !before.labelIds.includes(label)),
    removed: before.labelIds.filter((label) => !after.labelIds.includes(label)),
  }
}

interface UndoPatch {
  patch: ConversationPatch
  /** Restored number of unread messages; undefined leaves it unchanged. */
  unreadCount: number | undefined
  /** Whether agents can take the conversation again. */
  isReleased: boolean
  /** Whether some fields were changed again since; these stay as they are. */
  hasConflicts: boolean
}

// Cap of the restored unread count; the app opens the thread at the oldest of these.
const maxUnread = 1000

/** Restores each field separately, and only if it still has the value that the change set. */
export function planUndo(now: Conversation, former: PreviousState, changes: BulkChanges): UndoPatch {
  const patch: ConversationPatch = {}
  let hasConflicts = false
  if (changes.status !== undefined && !isStatus(former, changes)) {
    if (isStatus(now, changes)) Object.assign(patch, { status: former.status, snoozedUntil: former.snoozedUntil })
    else hasConflicts = true
  }
  const isAssigned = changes.assignedTo !== undefined && former.assignedTo !== changes.assignedTo
  const isStillAssigned = isAssigned && now.assignedTo === changes.assignedTo
  if (isStillAssigned) patch.assignedTo = former.assignedTo
  else if (isAssigned) hasConflicts = true
  const [add, remove] = [
    former.removed.filter((id) => !now.labelIds.includes(id)),
    former.added.filter((id) => now.labelIds.includes(id)),
  ]
  if (add.length + remove.length > 0) patch.labels = { add, remove }
  return {
    patch,
    unreadCount: restoredUnreadCount(now, former, changes),
    isReleased: isStillAssigned && now.held && !former.held && now.owner.type === 'human',
    hasConflicts,
  }
}

function isStatus(one: Pick<Conversation, 'status' | 'snoozedUntil'>, { status, snoozedUntil }: BulkChanges): boolean {
  return one.status === status && one.snoozedUntil?.getTime() === snoozedUntil?.getTime()
}

function restoredUnreadCount(now: Conversation, former: PreviousState, { read }: BulkChanges): number | undefined {
  if (read === true && now.unreadCount === 0 && former.unreadCount > 0) return Math.min(former.unreadCount, maxUnread)
  if (read === false && now.unreadCount === 1 && former.unreadCount === 0) return 0
  return undefined
}

interface BulkUndoRequest {
  batchId: string
  changes: BulkChanges
  former: readonly PreviousState[]
}

interface BulkUndoResult {
  conversations: Conversation[]
  /** Number of conversations not fully restored: changed again since, or deleted. */
  notRestored: number
}

/** Restores conversations to their state before a bulk change, except for fields changed since. */
export async function undoChanges(
  deps: Pick<InboxDeps, 'db' | 'keyStore' | 'clock'>,
  workspaceId: string,
  actor: TeamActor,
  { batchId, changes, former }: BulkUndoRequest,
): Promise<BulkUndoResult> {
  return inWorkspace(deps, workspaceId, async (work) => {
    const { tx, keyring, now } = work
    const formerById = new Map(former.map((one) => [one.id, one]))
    const facts = await readWorkspaceFacts(tx, workspaceId, former)
    const locked = await lockByIds({ tx, keyring, workspaceId }, [...formerById.keys()])
    let notRestored = former.length - locked.length
    const planned = locked.map((before) => {
      const previous = formerById.get(before.id)
      const restored = previous && restoreConversation(before, previous, changes, actor, facts, now)
      if (restored === undefined || restored.hasConflicts) notRestored++
      return { before, after: restored?.conversation ?? before }
    })
    const changed = await commitAll(work, actor, planned)
    await recordBulkAction(tx, workspaceId, actor, 'conversations.bulk_undone', batchId, changed, now)
    return { conversations: changed.map(({ after }) => after), notRestored }
  })
}

/** Current members and existing labels. */
interface WorkspaceFacts {
  isFormerMember(userId: string | null | undefined): boolean
  labels: ReadonlySet<string>
}

async function readWorkspaceFacts(
  tx: Tx,
  workspaceId: string,
  former: readonly PreviousState[],
): Promise<WorkspaceFacts> {
  const users = [...new Set(former.flatMap(({ assignedTo }) => assignedTo ?? []))]
  const nonMembers = new Set(await findNonMembers(tx, workspaceId, users))
  const rows = await tx<{ id: string }[]>`
    select id
    from labels
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set(former.flatMap(({ removed }) => removed))]}::uuid[])
    for key share`
  return {
    isFormerMember: (userId) => userId != null && nonMembers.has(userId),
    labels: new Set(rows.map(({ id }) => id)),
  }
}

function restoreConversation(
  before: Conversation,
  former: PreviousState,
  changes: BulkChanges,
  actor: TeamActor,
  facts: WorkspaceFacts,
  now: Date,
): { conversation: Conversation; hasConflicts: boolean } {
  const { patch, unreadCount, isReleased, hasConflicts } = planUndo(before, former, changes)
  const { assignedTo, labels, ...rest } = patch
  const isFormerAssignee = facts.isFormerMember(assignedTo)
  const undoPatch = {
    ...rest,
    ...(assignedTo !== undefined && !isFormerAssignee && { assignedTo }),
    ...(labels && { labels: { add: labels.add.filter((id) => facts.labels.has(id)), remove: labels.remove } }),
  }
  let { conversation } = applyPatch(before, undoPatch, actor, now)
  if (unreadCount !== undefined) conversation = withUpdatedAt({ ...conversation, unreadCount }, now)
  if (isReleased && !isFormerAssignee) conversation = withUpdatedAt({ ...conversation, held: false }, now)
  return { conversation, hasConflicts: hasConflicts || isFormerAssignee }
}
