import type { Tx } from '../../base/db.ts'
import { forbidden } from '../../base/errors.ts'
import { recordAudit } from '../../team/audit.ts'
import { type Member, type Role, roleCovers, roles } from '../../team/member.ts'
import { type KeyDeps, revokeApiKey } from '../api-keys/change-key.ts'
import { selectUsableKeysOf } from '../api-keys/queries.ts'
import { revokeTokensOf } from '../credentials/team-tokens.ts'
import {
  findMember,
  lockMembers,
  memberNotFound,
  publishMemberRevoked,
  refuseAbove,
  removeMember,
  setRole,
} from '../users/members.ts'
import type { TeamDeps } from '../users/users.ts'
import { withdrawInvitationsOf } from './invitations.ts'

/**
 * Gives a member another role. Only an owner makes or unmakes owners; the last owner stays one (409). What the member made
 * with a higher role than the new one goes: their tokens above it, and the open invitations that it could not make.
 */
export async function changeRole(deps: TeamDeps, by: Member, userId: string, role: Role): Promise<void> {
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await lockMembers(tx, by.workspaceId)
    const found = await findMember(tx, by.workspaceId, userId)
    if (found === undefined) throw memberNotFound()
    refuseAbove(by, found.role)
    refuseAbove(by, role)
    if (found.role === role) return
    await setRole(tx, by.workspaceId, userId, role)
    publishMemberRevoked(tx, by.workspaceId, userId)
    const target = `member:${userId}`
    await recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action: 'member.role-changed', target }, now)
    const above = roles.filter((each) => !roleCovers(role, each))
    await revokeTokensOf(tx, by, userId, above, now)
    await withdrawInvitationsOf(tx, by, userId, roleCovers(role, 'admin') ? above : roles, now)
  })
}

/** What a leaver made elsewhere: an outline of a webhook endpoint. */
export interface MadeWebhook {
  id: string
  /** Its address without what may hold a token. */
  url: string
  description: string | null
  state: 'active' | 'disabled'
  createdAt: Date
  lastUsedAt: Date | null
}

export interface LeavingDeps extends TeamDeps, Pick<KeyDeps, 'forgetKey' | 'keyStopped'> {
  /** The endpoints that this person is responsible for, and that were not removed. */
  webhooksOf(workspaceId: string, userId: string): Promise<MadeWebhook[]>
  /** Disables those of them that are active; returns how many. */
  disableWebhooksOf(tx: Tx, by: Member, userId: string): Promise<number>
}

/** What becomes of what others may depend on: it stays unless the remover says otherwise. */
export interface LeavingChoice {
  keys: 'keep' | 'revoke'
  webhooks: 'keep' | 'disable'
}

/** How many of the person's things have ended with their membership. */
export interface Ended {
  tokens: number
  invitations: number
  keys: number
  webhooks: number
}

/**
 * Takes a member out of the workspace; anyone may take out themselves. The last owner cannot go (409). In the same
 * transaction their tokens of this workspace stop and their open invitations are withdrawn; their keys and webhooks as
 * chosen. After it their streams end, on every node.
 */
export async function leaveTeam(deps: LeavingDeps, by: Member, userId: string, choice: LeavingChoice): Promise<Ended> {
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  const stopKey = (tx: Tx, keyId: string) => deps.keyStopped(tx, keyring, by.workspaceId, keyId)
  const { ended, revokedKeys } = await deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await lockMembers(tx, by.workspaceId)
    await refuseForeign(tx, by, userId, choice)
    await removeMember(tx, by.workspaceId, userId)
    publishMemberRevoked(tx, by.workspaceId, userId)
    const entry = { scopeId: by.workspaceId, actor: by.actor, action: 'member.removed', target: `member:${userId}` }
    await recordAudit(tx, entry, now)
    const tokens = await revokeTokensOf(tx, by, userId, roles, now)
    const invitations = await withdrawInvitationsOf(tx, by, userId, roles, now)
    const keys = choice.keys === 'keep' ? [] : await revokeKeysOf(tx, by, userId, stopKey, now)
    const webhooks = choice.webhooks === 'keep' ? 0 : await deps.disableWebhooksOf(tx, by, userId)
    return { ended: { tokens, invitations, keys: keys.length, webhooks }, revokedKeys: keys }
  })
  for (const keyId of revokedKeys) deps.forgetKey(keyId)
  return ended
}

async function refuseForeign(tx: Tx, by: Member, userId: string, choice: LeavingChoice): Promise<void> {
  const found = await findMember(tx, by.workspaceId, userId)
  if (found === undefined) throw memberNotFound()
  const isAdmin = roleCovers(by.role, 'admin')
  if (by.userId !== userId) {
    if (!isAdmin) throw forbidden('Only admins and owners remove others from the workspace')
    refuseAbove(by, found.role)
  }
  if (!isAdmin && (choice.keys !== 'keep' || choice.webhooks !== 'keep')) {
    throw forbidden('Only admins and owners revoke keys and disable webhooks')
  }
}

async function revokeKeysOf(
  tx: Tx,
  by: Member,
  userId: string,
  stopKey: (tx: Tx, keyId: string) => Promise<void>,
  now: Date,
): Promise<string[]> {
  const keys = await selectUsableKeysOf(tx, by.workspaceId, userId, now)
  const revoked: string[] = []
  for (const { id } of keys) {
    const { changed } = await revokeApiKey(tx, by.workspaceId, id, now)
    if (!changed) continue
    await stopKey(tx, id)
    const entry = { scopeId: by.workspaceId, actor: by.actor, action: 'api-key.revoked', target: `api-key:${id}` }
    await recordAudit(tx, entry, now)
    revoked.push(id)
  }
  return revoked
}
