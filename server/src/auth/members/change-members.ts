import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { forbidden } from '../../base/errors.ts'
import { cancelMailsOf } from '../../mail/mails.ts'
import { type AuditEntry, recordAudit, workspaceEntry } from '../../team/audit.ts'
import { type Member, type Role, roleCovers, roles } from '../../team/member.ts'
import { endKey, type KeyDeps } from '../api-keys/change-key.ts'
import { selectActiveKeysOf } from '../api-keys/queries.ts'
import { revokeTokensOf } from '../credentials/team-tokens.ts'
import {
  findMember,
  lockMembers,
  memberNotFound,
  publishMemberRevoked,
  refuseHigherRole,
  removeMember,
  setRole,
} from '../users/members.ts'
import type { TeamDeps } from '../users/users.ts'
import { withdrawInvitationsOf } from './invitations.ts'

/**
 * Changes a member's role. Only owners grant or remove the role owner; the last owner keeps it (409). Revokes the
 * member's tokens with a role above the new one, and deletes the open invitations that they could no longer send.
 */
export async function changeRole(deps: TeamDeps, by: Member, userId: string, role: Role): Promise<void> {
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await lockMembers(tx, by.workspaceId)
    const found = await findMember(tx, by.workspaceId, userId)
    if (found === undefined) throw memberNotFound()
    refuseHigherRole(by, found.role)
    refuseHigherRole(by, role)
    if (found.role === role) return
    await applyRole(tx, by, userId, role, now)
  })
}

type ChangeAuthor = Pick<Member, 'workspaceId'> & Pick<AuditEntry, 'actor'>

/** Sets a role, and revokes tokens and invitations above it. The caller must hold `lockMembers`. */
export async function applyRole(tx: Tx, by: ChangeAuthor, userId: string, role: Role, now: Date): Promise<void> {
  await setRole(tx, by.workspaceId, userId, role)
  publishMemberRevoked(tx, by.workspaceId, userId)
  await recordAudit(tx, workspaceEntry(by, 'member.role-changed', `member:${userId}`), now)
  const above = roles.filter((each) => !roleCovers(role, each))
  await revokeTokensOf(tx, by, userId, above, now)
  await withdrawInvitationsOf(tx, by, userId, roleCovers(role, 'admin') ? above : roles, now)
}

/** Removes a member, their tokens, open invitations and unsent mails. The caller must hold `lockMembers`. */
export async function endMembership(tx: Tx, by: ChangeAuthor, userId: string, now: Date) {
  await removeMember(tx, by.workspaceId, userId)
  publishMemberRevoked(tx, by.workspaceId, userId)
  await recordAudit(tx, workspaceEntry(by, 'member.removed', `member:${userId}`), now)
  await cancelMailsOf(tx, by.workspaceId, userId)
  const tokens = await revokeTokensOf(tx, by, userId, roles, now)
  return { tokens, invitations: await withdrawInvitationsOf(tx, by, userId, roles, now) }
}

/** Outline of a webhook endpoint that the member created. */
export interface CreatedWebhook {
  id: string
  /** Its address without parts that may contain a token. */
  url: string
  description: string | null
  state: 'active' | 'disabled'
  createdAt: Date
  lastUsedAt: Date | null
}

export interface LeaveDeps extends TeamDeps, Pick<KeyDeps, 'forgetKey' | 'keyStopped'> {
  /** Returns the endpoints that this person is responsible for, except removed ones. */
  webhooksOf(workspaceId: string, userId: string): Promise<CreatedWebhook[]>
  /** Disables the active ones. Returns how many. */
  disableWebhooksOf(tx: Tx, by: Member, userId: string): Promise<number>
}

/** What happens to keys and webhooks, on which others may depend. Kept by default. */
export interface LeaveOptions {
  keys: 'keep' | 'revoke'
  webhooks: 'keep' | 'disable'
}

/** Numbers of the person's resources that ended with the membership. */
export interface EndedCounts {
  tokens: number
  invitations: number
  keys: number
  webhooks: number
}

/**
 * Removes a member; anyone can remove themselves. The last owner cannot leave (409). The same transaction revokes their
 * tokens of this workspace, withdraws their open invitations and treats their keys and webhooks as chosen. On commit
 * their streams end on every node.
 */
export async function leaveTeam(
  deps: LeaveDeps,
  by: Member,
  userId: string,
  choice: LeaveOptions,
): Promise<EndedCounts> {
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  const { ended, revokedKeys } = await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await lockMembers(tx, by.workspaceId)
    await authorizeRemoval(tx, by, userId, choice)
    const ended = await endMembership(tx, by, userId, now)
    const keys = choice.keys === 'keep' ? [] : await revokeKeysOf(tx, deps, keyring, by, userId, now)
    const webhooks = choice.webhooks === 'keep' ? 0 : await deps.disableWebhooksOf(tx, by, userId)
    return { ended: { ...ended, keys: keys.length, webhooks }, revokedKeys: keys }
  })
  for (const keyId of revokedKeys) deps.forgetKey(keyId)
  return ended
}

async function authorizeRemoval(tx: Tx, by: Member, userId: string, choice: LeaveOptions): Promise<void> {
  const found = await findMember(tx, by.workspaceId, userId)
  if (found === undefined) throw memberNotFound()
  const isAdmin = roleCovers(by.role, 'admin')
  if (by.userId !== userId) {
    if (!isAdmin) throw forbidden('Only admins and owners can remove other members')
    refuseHigherRole(by, found.role)
  }
  if (!isAdmin && (choice.keys !== 'keep' || choice.webhooks !== 'keep')) {
    throw forbidden('Only admins and owners can revoke keys and disable webhooks')
  }
}

async function revokeKeysOf(
  tx: Tx,
  deps: LeaveDeps,
  keyring: Keyring,
  by: Member,
  userId: string,
  now: Date,
): Promise<string[]> {
  const revoked: string[] = []
  for (const { id } of await selectActiveKeysOf(tx, by.workspaceId, userId, now)) {
    const { changed } = await endKey(tx, deps, keyring, by, id, now)
    if (changed) revoked.push(id)
  }
  return revoked
}
