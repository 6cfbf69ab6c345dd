import type { Sql, Tx } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type NewNotification, recordNotifications } from '../../notifications/record-notifications.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { Priority } from '../../workspaces/service/service-settings.ts'
import { checkTeam, listTeamIdsOf } from '../../workspaces/teams/teams.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import {
  type ConversationChange,
  changeLabels,
  changeOwner,
  changePriority,
  changeStatus,
  changeTeam,
  withUpdatedAt,
} from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import {
  agentsStopped,
  type ChangeDeps,
  type ChangeTx,
  type Conversation,
  inWorkspace,
  keyCannotOwn,
  lockedToPeople,
  ownerForbidden,
  type Scope,
  unknownLabels,
} from '../conversation/conversation.ts'
import { type ConversationStatus, hasUnseenMessages } from '../conversation/conversation-state.ts'
import { canSetOwner, isSameOwner, lockToPeople, type Owner, takeRefusal } from '../conversation/owner.ts'
import { requireLocked } from '../conversation/queries.ts'
import { insertNote } from '../notes/notes.ts'
import { assignInTeam } from '../routing/assign.ts'
import type { LockedCheck } from '../send/send-deps.ts'
import { type AgentRules, canAgentOwn, readAgentRules } from './eligible-agents.ts'
import { assertOwner } from './transfer-to-agent.ts'

export interface ConversationPatch {
  owner?: Owner
  status?: ConversationStatus
  /** Only with status `snoozed`: when a timer reopens the conversation. */
  snoozedUntil?: Date | null
  labelIds?: readonly string[]
  /** Changes relative to the current labels, as an alternative to `labelIds`. */
  labels?: { add: readonly string[]; remove: readonly string[] }
  note?: string
  /** Null: none. */
  priority?: Priority | null
  /** Null: unassigned. */
  assignedTo?: string | null
  /** Null: no team. Unless `assignedTo` says who, the team's rule decides who gets a conversation of people. */
  teamId?: string | null
  /** Requires this key to own the conversation, else 409. Skips the status if it has not seen all messages. */
  ownerKeyId?: string
}

/**
 * Applies all of the patch or none of it. Values that are already set cause no change and no event. Throws 404 outside
 * the scope, 403 `OWNER_FORBIDDEN` for an owner that the actor may not set, 400 for unknown labels, and what `check`
 * throws.
 */
export async function updateConversation(
  deps: ChangeDeps,
  scope: Scope,
  actor: Actor,
  id: string,
  patch: ConversationPatch,
  check?: LockedCheck,
): Promise<Conversation> {
  return inWorkspace(deps, scope.workspaceId, async (work) => {
    const { tx, workspaceId, now } = work
    const rules = patch.owner?.type === 'agent' ? await readAgentRules(tx, workspaceId) : null
    const before = await requireLocked(work, scope, id)
    await check?.(work, before)
    if (patch.ownerKeyId !== undefined) assertOwner(before, patch.ownerKeyId)
    if (patch.owner !== undefined) await checkOwner(work, actor, before, patch.owner, rules)
    const labelIds = patch.labels?.add ?? patch.labelIds
    if (labelIds !== undefined)
      await checkLabels(tx, workspaceId, labelIds, actor.type === 'agent' ? 'label_ids' : 'labelIds')
    if (patch.assignedTo) await checkAssignee(tx, workspaceId, patch.assignedTo)
    if (patch.teamId) await checkTeam(tx, workspaceId, patch.teamId, 'teamId')
    const keeps = await keepsAssignee(tx, workspaceId, before, patch)
    const applied = keeps ? { ...patch, assignedTo: before.assignedTo } : patch
    const change = applyPatch(before, hasNewerMessages(before, applied) ? withoutStatus(applied) : applied, actor, now)
    if (patch.note !== undefined) {
      await insertNote(work, before, { text: patch.note, mentions: [], actor })
    }
    const conversation = await commitChange(work, before, change, { actor, reason: null })
    await recordNotifications(tx, workspaceId, notificationsFor(before, conversation, actor, now), now)
    return assignIfMoved(work, before, conversation)
  })
}

/** Returns whether a conversation stays with its assignee when it comes to another team: with a member of that team. */
async function keepsAssignee(tx: Tx, workspaceId: string, { assignedTo }: Conversation, patch: ConversationPatch) {
  if (!patch.teamId || patch.assignedTo !== undefined || assignedTo === null) return false
  return (await listTeamIdsOf(tx, workspaceId, assignedTo)).includes(patch.teamId)
}

/** Assigns a conversation of people that has come to a team, and that nobody has, by the team's rule. */
async function assignIfMoved(work: ChangeTx, before: Conversation, after: Conversation): Promise<Conversation> {
  const { teamId, assignedTo, owner } = after
  if (teamId === null || teamId === before.teamId || assignedTo !== null || owner.type === 'agent') return after
  return assignInTeam(work, after, teamId)
}

/**
 * Returns whether the owning agent sets a status without having seen the customer's newest message. The status stays
 * then, as if the customer had written right after the change.
 */
const hasNewerMessages = (before: Conversation, { ownerKeyId, status }: ConversationPatch): boolean =>
  ownerKeyId !== undefined &&
  status !== undefined &&
  before.inbound.seen !== null &&
  hasUnseenMessages(before, { id: before.inbound.seen, isNamed: false })

const withoutStatus = ({ status: _status, snoozedUntil: _until, ...rest }: ConversationPatch): ConversationPatch => rest

export function applyPatch(
  before: Conversation,
  patch: ConversationPatch,
  actor: Actor,
  now: Date,
): ConversationChange {
  const ownerChange = patch.owner === undefined ? null : changeOwner(before, patch.owner, actor, now)
  let conversation = ownerChange?.conversation ?? before
  if (patch.status !== undefined) {
    conversation = changeStatus(conversation, patch.status, patch.snoozedUntil ?? null, now)
  }
  if (patch.priority !== undefined) conversation = changePriority(conversation, patch.priority, now)
  if (patch.labelIds !== undefined) conversation = changeLabels(conversation, patch.labelIds, now)
  if (patch.labels !== undefined) {
    const { add, remove } = patch.labels
    const kept = conversation.labelIds.filter((id) => !remove.includes(id))
    conversation = changeLabels(conversation, [...kept, ...add], now)
  }
  if (patch.teamId !== undefined && patch.teamId !== conversation.teamId) {
    // The former team's person gives it away, unless the patch says who gets it.
    conversation = {
      ...changeTeam(conversation, patch.teamId, now),
      ...(patch.teamId !== null && { assignedTo: null }),
    }
  }
  if (patch.assignedTo !== undefined && patch.assignedTo !== conversation.assignedTo) {
    const assigned = withUpdatedAt({ ...conversation, assignedTo: patch.assignedTo }, now)
    conversation = patch.assignedTo === null ? assigned : lockToPeople(assigned)
  }
  // A note is part of the conversation that the team sees.
  if (patch.note !== undefined) conversation = withUpdatedAt(conversation, now)
  return { conversation, events: ownerChange?.events ?? [] }
}

/** Notifies a new assignee, and people when an agent hands a conversation back. */
function notificationsFor(before: Conversation, after: Conversation, actor: Actor, now: Date): NewNotification[] {
  const about = { cause: newId(now), conversationId: after.id, actor }
  const { assignedTo } = after
  if (assignedTo !== null && assignedTo !== before.assignedTo) {
    return [{ ...about, kind: 'assigned', userId: assignedTo }]
  }
  const isHandedBack = actor.type === 'agent' && before.owner.type === 'agent' && after.owner.type === 'human'
  return isHandedBack ? [{ ...about, kind: 'handover', userId: assignedTo }] : []
}

async function checkOwner(work: ChangeTx, actor: Actor, before: Conversation, owner: Owner, rules: AgentRules | null) {
  if (!canSetOwner(actor, owner)) throw ownerForbidden()
  if (owner.type === 'human' || isSameOwner(before.owner, owner)) return
  if (rules === null || rules.isStopped) throw agentsStopped()
  const refusal = actor.type === 'agent' ? takeRefusal(before, actor.id, 'from_agents_too', rules.takingBack) : null
  if (refusal !== null) throw lockedToPeople(before, 'OWNER_MISMATCH')
  if (!(await canAgentOwn(work, owner.keyId, before.connectionId))) throw keyCannotOwn()
}

export async function checkLabels(
  tx: Tx,
  workspaceId: string,
  labelIds: readonly string[],
  field: string,
): Promise<void> {
  const unique = new Set(labelIds)
  if (unique.size === 0) return
  const rows = await tx`
    select id
    from labels
    where workspace_id = ${workspaceId}
      and id = any (${[...unique]}::uuid[])
    for key share`
  if (rows.length < unique.size) throw unknownLabels(field)
}

export async function checkAssignee(tx: Sql, workspaceId: string, userId: string, field = 'assignedTo'): Promise<void> {
  const nonMembers = await findNonMembers(tx, workspaceId, [userId])
  if (nonMembers.length > 0) throw invalid(field, 'must be a member of the workspace')
}
