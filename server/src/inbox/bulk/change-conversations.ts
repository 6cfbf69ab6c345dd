import type { Tx } from '../../base/db.ts'
import { type NewNotification, recordNotifications } from '../../notifications/record-notifications.ts'
import { addToAudit } from '../../team/audit.ts'
import type { TeamActor } from '../../team/member.ts'
import { checkTeam, findTeams } from '../../workspaces/teams/teams.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { applyPatch, type ConversationPatch, checkAssignee, checkLabels } from '../assignment/update-conversation.ts'
import { lockByIds } from '../conversation/batch-queries.ts'
import { withUpdatedAt } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import {
  type ChangeDeps,
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
import { queueInTeams, type RoutedConversation, recordRoutes, withRoute } from '../routing/assign.ts'
import { lockRouting } from '../routing/lock-routing.ts'
import { createRouter } from '../routing/routing.ts'

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
 * for an assignee who is not a member and for unknown labels and teams. Those that come to a team are assigned by its rule.
 */
export async function changeConversations(
  deps: InboxDeps,
  workspaceId: string,
  actor: TeamActor,
  { batchId, ids, changes }: BulkChangeRequest,
): Promise<BulkChangeResult> {
  const { changed, read } = await inWorkspace(deps, workspaceId, async (work) => {
    const { tx, now } = work
    if (changes.labels !== undefined) await checkLabels(tx, workspaceId, changes.labels.add, 'changes.addLabelIds')
    if (changes.assignedTo) await checkAssignee(tx, workspaceId, changes.assignedTo, 'changes.assignedTo')
    const { teamId = null } = changes
    const members = teamId === null ? noMembers : await readTeamMembers(tx, workspaceId, teamId, 'changes.teamId')
    const lockedConversations = await lockByIds(work, ids)
    const newest = await newestInbounds(work, changes.read === undefined ? [] : lockedConversations)
    const applied = lockedConversations.map((before) => ({
      before,
      after: applyChanges(before, withAssignee(before, changes, members), actor, newest, now),
    }))
    const { planned, routed } =
      teamId === null ? { planned: applied, routed: [] } : await routeMoved(work, teamId, applied)
    const changed = await commitAll(work, actor, planned)
    await recordRoutes(work, routed, false)
    await recordNotifications(tx, workspaceId, notificationsFor(changed, actor, batchId), now)
    await recordBulkAction(work, actor, 'bulk_changed', batchId, changed)
    return { changed, read: changed.flatMap((one) => readReceiptOf(one, newest)) }
  })
  for (const { conversation, externalId } of read) await sendReadReceipt(deps, workspaceId, conversation, externalId)
  return {
    conversations: changed.map(({ after }) => after),
    former: changed.filter(isChanged).map(({ before, after }) => previousStateOf(before, after)),
  }
}

const noMembers: ReadonlySet<string> = new Set()

/** A member of the team that a conversation comes to keeps it. */
const withAssignee = ({ assignedTo }: Conversation, changes: BulkChanges, members: ReadonlySet<string>): BulkChanges =>
  changes.assignedTo === undefined && assignedTo !== null && members.has(assignedTo)
    ? { ...changes, assignedTo }
    : changes

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
async function newestInbounds({ tx, keyring, workspaceId }: WorkspaceTx, conversations: readonly Conversation[]) {
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
function commitAll(work: ChangeTx, actor: TeamActor, changed: readonly ConversationDiff[]) {
  const cause = { actor, reason: null }
  return Promise.all(
    changed.map(async (one) => {
      if (!isChanged(one)) return one
      const { before, after } = one
      return { before, after: await commitChange(work, before, { conversation: after, events: [] }, cause) }
    }),
  )
}

async function recordBulkAction(
  { tx, workspaceId: scopeId, now }: ChangeTx,
  actor: TeamActor,
  action: 'bulk_changed' | 'bulk_undone',
  batchId: string,
  changed: readonly ConversationDiff[],
): Promise<void> {
  const count = changed.filter(isChanged).length
  const entry = { scopeId, actor, action: `conversations.${action}` as const, target: `batch:${batchId}` }
  if (count > 0) await addToAudit(tx, entry, count, now)
}

export interface BulkChanges
  extends Pick<ConversationPatch, 'status' | 'snoozedUntil' | 'assignedTo' | 'teamId' | 'priority' | 'labels'> {
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
  teamId?: string | null
  priority?: Conversation['priority']
  /** Who had it after the change: a team's rule may have assigned it. */
  assignedAfter?: string | null
  /** Labels that the change added and removed. */
  added: string[]
  removed: string[]
}

export function previousStateOf(before: Conversation, after: Conversation): PreviousState {
  const { id, status, snoozedUntil, assignedTo, held, unreadCount, teamId, priority } = before
  return {
    ...{ id, status, snoozedUntil, assignedTo, held, unreadCount, teamId, priority, assignedAfter: after.assignedTo },
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
  if (isSetTo(changes.priority, former.priority)) {
    if (now.priority === changes.priority) patch.priority = former.priority ?? null
    else hasConflicts = true
  }
  const isMoved = isSetTo(changes.teamId, former.teamId)
  const isStillMoved = isMoved && now.teamId === changes.teamId
  if (isStillMoved) patch.teamId = former.teamId ?? null
  else if (isMoved) hasConflicts = true
  const setTo = changes.assignedTo === undefined && isStillMoved ? former.assignedAfter : changes.assignedTo
  const isAssigned = isSetTo(setTo, former.assignedTo)
  const isStillAssigned = isAssigned && now.assignedTo === setTo
  if (isStillAssigned) patch.assignedTo = former.assignedTo
  else if (isAssigned) hasConflicts = true
  // Named, because a conversation that comes to a team loses its assignee otherwise.
  if (isStillMoved && !isStillAssigned) patch.assignedTo = now.assignedTo
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

const isSetTo = <V>(value: V | null | undefined, before: V | null | undefined): boolean =>
  value !== undefined && value !== (before ?? null)

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
  deps: ChangeDeps,
  workspaceId: string,
  actor: TeamActor,
  { batchId, changes, former }: BulkUndoRequest,
): Promise<BulkUndoResult> {
  return inWorkspace(deps, workspaceId, async (work) => {
    const { tx, now } = work
    const formerById = new Map(former.map((one) => [one.id, one]))
    const facts = await readWorkspaceFacts(tx, workspaceId, former)
    const locked = await lockByIds(work, [...formerById.keys()])
    let notRestored = former.length - locked.length
    const planned = locked.map((before) => {
      const previous = formerById.get(before.id)
      const restored = previous && restoreConversation(before, previous, changes, actor, facts, now)
      if (restored === undefined || restored.hasConflicts) notRestored++
      return { before, after: restored?.conversation ?? before }
    })
    const changed = await commitAll(work, actor, planned)
    const back = changed.flatMap(({ before, after }) => (after.teamId !== before.teamId && isFree(after) ? after : []))
    await queueInTeams(work, back)
    await recordBulkAction(work, actor, 'bulk_undone', batchId, changed)
    return { conversations: changed.map(({ after }) => after), notRestored }
  })
}

const isFree = ({ assignedTo, owner }: Conversation): boolean => assignedTo === null && owner.type === 'human'

type WorkspaceFacts = Awaited<ReturnType<typeof readWorkspaceFacts>>

/** Returns the former members, and existing labels and teams. */
async function readWorkspaceFacts(tx: Tx, workspaceId: string, former: readonly PreviousState[]) {
  const users = [...new Set(former.flatMap(({ assignedTo }) => assignedTo ?? []))]
  const nonMembers = new Set(await findNonMembers(tx, workspaceId, users))
  const rows = await tx<{ id: string }[]>`
    select id
    from labels
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set(former.flatMap(({ removed }) => removed))]}::uuid[])
    for key share`
  return {
    isFormerMember: (userId: string | null | undefined) => userId != null && nonMembers.has(userId),
    labels: new Set(rows.map(({ id }) => id)),
    teams: await findTeams(tx, workspaceId, [...new Set(former.flatMap(({ teamId }) => teamId ?? []))]),
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
  const { assignedTo, teamId, labels, ...rest } = patch
  const isFormerAssignee = facts.isFormerMember(assignedTo)
  const isFormerTeam = teamId != null && !facts.teams.has(teamId)
  const undoPatch = {
    ...rest,
    ...(teamId !== undefined && !isFormerTeam && { teamId }),
    ...(assignedTo !== undefined && !isFormerAssignee && { assignedTo }),
    ...(labels && { labels: { add: labels.add.filter((id) => facts.labels.has(id)), remove: labels.remove } }),
  }
  let { conversation } = applyPatch(before, undoPatch, actor, now)
  if (unreadCount !== undefined) conversation = withUpdatedAt({ ...conversation, unreadCount }, now)
  if (isReleased && !isFormerAssignee) conversation = withUpdatedAt({ ...conversation, held: false }, now)
  return { conversation, hasConflicts: hasConflicts || isFormerAssignee || isFormerTeam }
}

interface ConversationDiff {
  before: Conversation
  after: Conversation
}

/** Returns the members of a team that conversations move to; they keep those that they have. Throws 400 if it is unknown. */
async function readTeamMembers(tx: Tx, workspaceId: string, teamId: string, field: string) {
  await checkTeam(tx, workspaceId, teamId, field)
  const rows = await tx<{ id: string }[]>`
    select user_id as id
    from team_members
    where workspace_id = ${workspaceId}
      and team_id = ${teamId}`
  return new Set(rows.map(({ id }) => id))
}

/**
 * Gives those conversations of people that come to the team, and that nobody has, to its members by the team's rule, one
 * after another. Requires their locks. The caller stores the conversations and then the routes.
 */
async function routeMoved(work: ChangeTx, teamId: string, planned: readonly ConversationDiff[]) {
  const { now } = work
  const isMoved = ({ before, after }: ConversationDiff) =>
    before.teamId !== teamId && after.teamId === teamId && after.assignedTo === null && after.owner.type === 'human'
  if (!planned.some(isMoved)) return { planned, routed: [] }
  const state = await lockRouting(work, { teamId }, [])
  const router = createRouter(state, { keys: [], isStopped: true, now })
  const routed: RoutedConversation[] = []
  const assigned = planned.map((one) => {
    if (!isMoved(one)) return one
    const route = router.assign(teamId)
    routed.push({ conversationId: one.before.id, route })
    return { before: one.before, after: withUpdatedAt(withRoute(one.after, route), now) }
  })
  return { planned: assigned, routed }
}
