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
import { type AgentKey, canKeyOwn, firstOwner, type Owner } from '../conversation/owner.ts'

/**
 * Returns a function that gives the owner of a new conversation on a connection. The result stays valid until the
 * transaction ends. Call it before locking a conversation, like `readAgentRules`.
 */
export async function lockFirstOwners(
  tx: Tx,
  workspaceId: string,
  now: Date,
): Promise<(connectionId: string) => Owner> {
  const [{ isStopped }, keys] = await Promise.all([
    readAgentRules(tx, workspaceId),
    lockAgentKeys(tx, workspaceId, null),
  ])
  return (connectionId) => firstOwner(keys, connectionId, isStopped, now)
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
  const [workspace] = await sql<{ agents_stopped: boolean }[]>`
    select agents_stopped
    from workspaces
    where id = ${workspaceId}`
  const keys = await selectAgentKeys(sql, workspaceId, sql``)
  const owner = firstOwner(keys, connectionId, workspace?.agents_stopped ?? true, now)
  const row = owner.type === 'human' ? null : await selectApiKey(sql, workspaceId, owner.keyId)
  return row === null ? null : { keyId: row.id, name: row.name, lastUsedAt: row.last_used_at }
}

/** Returns whether the key can own conversations of the connection; valid until the transaction ends. */
export async function canAgentOwn(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  connectionId: string,
  now: Date,
): Promise<boolean> {
  const [key] = await lockAgentKeys(tx, workspaceId, keyId)
  return key !== undefined && canKeyOwn(key, connectionId, now)
}

export interface AgentRules {
  /** Whether the stop switch is on. */
  isStopped: boolean
  takingBack: ReclaimPolicy
}

/**
 * Returns the workspace's rules for agents and locks them until the transaction ends. Call it before locking a
 * conversation: the stop switch takes its locks in the same order.
 */
export async function readAgentRules(tx: Tx, workspaceId: string): Promise<AgentRules> {
  if (isDistributed(tx)) await lockShared(tx, rulesLock(workspaceId))
  const [rules] = await tx<AgentRules[]>`
    select agents_stopped as "isStopped", agents_may_take_back as "takingBack"
    from workspaces
    where id = ${workspaceId}
    ${lockUnlessDistributed(tx, tx`for share`)}`
  return rules ?? { isStopped: true, takingBack: 'when_handed' }
}

// Waits for a revocation in progress and blocks new ones until the commit.
async function lockAgentKeys(tx: Tx, workspaceId: string, keyId: string | null): Promise<AgentKey[]> {
  if (isDistributed(tx)) await lockShared(tx, keysLock(workspaceId))
  const one = keyId === null ? tx`` : tx`and id = ${keyId}`
  return selectAgentKeys(tx, workspaceId, tx`${one} ${lockUnlessDistributed(tx, tx`for key share`)}`)
}

async function selectAgentKeys(sql: Sql, workspaceId: string, rest: Fragment): Promise<AgentKey[]> {
  return sql<AgentKey[]>`
    select id, scopes, connection_ids as "connectionIds", expires_at as "expiresAt", revoked_at as "revokedAt",
      answers_new_conversations as "answersNew", created_at as "createdAt"
    from api_keys
    where workspace_id = ${workspaceId}
      and revoked_at is null
      and 'inbox.write' = any (scopes)
      ${rest}`
}
