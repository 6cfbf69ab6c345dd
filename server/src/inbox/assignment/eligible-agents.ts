import { selectApiKey } from '../../auth/api-keys/queries.ts'
import {
  isDistributed,
  keysLock,
  lockShared,
  lockUnlessDistributed,
  rulesLock,
} from '../../base/citus/distributed-sql.ts'
import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { ReclaimPolicy } from '../../workspaces/schema.ts'
import type { PlainTx } from '../conversation/conversation.ts'
import { type AgentKey, canKeyOwn, firstOwner } from '../conversation/owner.ts'
import { countOwned, lockRouting, readRules } from '../routing/lock-routing.ts'
import { chooseAgent, createRouter, defaultRule, type Route, routeToOwner } from '../routing/routing.ts'

/** Returns who gets new conversations of these connections, one after the other. Call it after locking conversations. */
export type LockRoutes = (connectionIds: readonly string[]) => Promise<(connectionId: string) => Route>

/**
 * Returns a function that tells who gets new conversations. The result stays valid until the transaction ends. Call it
 * before locking a conversation, like `readAgentRules`. Only workspaces with routing rules pay for more than this.
 */
export async function lockFirstOwners(work: PlainTx): Promise<LockRoutes> {
  const { tx, workspaceId, now } = work
  const [{ isStopped, isRouted }, keys] = await Promise.all([
    readAgentRules(tx, workspaceId),
    lockAgentKeys(tx, workspaceId, null),
  ])
  return async (connectionIds) => {
    if (!isRouted) return (connectionId) => routeToOwner(firstOwner(keys, connectionId, isStopped, now))
    const state = await lockRouting(work, { connectionIds }, keys)
    return createRouter(state, { keys, isStopped, now }).route
  }
}

/** Key that would own the next new conversation. */
export interface NextAgent {
  keyId: string
  name: string
  /** Null if the key was never used. */
  lastUsedAt: Date | null
}

/** Returns the key that would own the next new conversation on the connection; null means people. */
export async function findNextAgent(
  sql: Sql,
  workspaceId: string,
  connectionId: string,
  now: Date,
): Promise<NextAgent | null> {
  const [workspace] = await sql<{ agents_stopped: boolean; is_routed: boolean }[]>`
    select agents_stopped, is_routed
    from workspaces
    where id = ${workspaceId}`
  const keys = await selectAgentKeys(sql, workspaceId, sql``)
  const keyIds = keys.map(({ id }) => id)
  const isStopped = workspace?.agents_stopped ?? true
  const [ruleOf, loads] = workspace?.is_routed
    ? await Promise.all([readRules(sql, workspaceId, [connectionId]), countOwned(sql, workspaceId, keyIds)])
    : [() => defaultRule, new Map<string, number>()]
  const { owner } = chooseAgent(ruleOf(connectionId), connectionId, { keys, loads, isStopped, now })
  const row = owner.type === 'human' ? null : await selectApiKey(sql, workspaceId, owner.keyId)
  return row === null ? null : { keyId: row.id, name: row.name, lastUsedAt: row.lastUsedAt }
}

/** Returns whether the key can own conversations of the connection; valid until the transaction ends. */
export async function canAgentOwn(work: PlainTx, keyId: string, connectionId: string): Promise<boolean> {
  const { tx, workspaceId, now } = work
  const [key] = await lockAgentKeys(tx, workspaceId, keyId)
  return key !== undefined && canKeyOwn(key, connectionId, now)
}

export interface AgentRules {
  /** Whether the stop switch is on. */
  isStopped: boolean
  takingBack: ReclaimPolicy
  /** Whether rules or limits decide who gets a new conversation. */
  isRouted: boolean
}

/**
 * Returns the workspace's rules for agents and locks them until the transaction ends. Call it before locking a
 * conversation: the stop switch takes its locks in the same order.
 */
export async function readAgentRules(tx: Tx, workspaceId: string): Promise<AgentRules> {
  if (isDistributed(tx)) await lockShared(tx, rulesLock(workspaceId))
  const [rules] = await tx<AgentRules[]>`
    select agents_stopped as "isStopped", agents_may_take_back as "takingBack", is_routed as "isRouted"
    from workspaces
    where id = ${workspaceId}
    ${lockUnlessDistributed(tx, tx`for share`)}`
  return rules ?? { isStopped: true, takingBack: 'when_handed', isRouted: false }
}

// Waits for a revocation in progress and blocks new ones until the commit.
async function lockAgentKeys(tx: Tx, workspaceId: string, keyId: string | null): Promise<AgentKey[]> {
  if (isDistributed(tx)) await lockShared(tx, keysLock(workspaceId))
  const one = keyId === null ? tx`` : tx`and id = ${keyId}`
  return selectAgentKeys(tx, workspaceId, tx`${one} ${lockUnlessDistributed(tx, tx`for key share`)}`)
}

/** Returns the keys that are not revoked and may answer, also expired ones. */
export async function selectAgentKeys(sql: Sql, workspaceId: string, rest: Fragment): Promise<AgentKey[]> {
  return sql<AgentKey[]>`
    select id, scopes, connection_ids as "connectionIds", expires_at as "expiresAt", revoked_at as "revokedAt",
      answers_new_conversations as "answersNew", created_at as "createdAt", capacity
    from api_keys
    where workspace_id = ${workspaceId}
      and revoked_at is null
      and 'inbox.write' = any (scopes)
      ${rest}`
}
