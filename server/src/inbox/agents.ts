import type { Tx } from '../base/db.ts'
import { type AgentKey, firstOwner, human, keyCanOwn, type Owner } from './owner.ts'

/** The owner of a conversation that a customer has just begun. */
export async function chooseFirstOwner(tx: Tx, workspaceId: string, connectionId: string, now: Date): Promise<Owner> {
  if (await agentsAreStopped(tx, workspaceId)) return human
  return firstOwner(await holdAgentKeys(tx, workspaceId, null), connectionId, false, now)
}

/** Whether the key can own conversations of the connection; it stays so until the transaction ends. */
export async function agentCanOwn(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  connectionId: string,
  now: Date,
): Promise<boolean> {
  const [key] = await holdAgentKeys(tx, workspaceId, keyId)
  return key !== undefined && keyCanOwn(key, connectionId, now)
}

/**
 * Whether the workspace's stop switch is on; it stays as it is until the transaction ends. To be asked before a
 * conversation is locked, in the order in which the switch itself takes its locks.
 */
export async function agentsAreStopped(tx: Tx, workspaceId: string): Promise<boolean> {
  const [row] = await tx<{ agents_stopped: boolean }[]>`
    select agents_stopped
    from workspaces
    where id = ${workspaceId}
    for share`
  return row?.agents_stopped ?? true
}

interface AgentKeyRow {
  id: string
  scopes: string[]
  connection_ids: string[]
  expires_at: Date | null
  revoked_at: Date | null
  created_at: Date
}

// Held, so that a key which is being revoked is waited for, and none is revoked between this look and the commit.
async function holdAgentKeys(tx: Tx, workspaceId: string, keyId: string | null): Promise<AgentKey[]> {
  const rows = await tx<AgentKeyRow[]>`
    select id, scopes, connection_ids, expires_at, revoked_at, created_at
    from api_keys
    where workspace_id = ${workspaceId}
      and revoked_at is null
      and 'inbox.write' = any (scopes)
      ${keyId === null ? tx`` : tx`and id = ${keyId}`}
    for key share`
  return rows.map((row) => ({
    id: row.id,
    scopes: row.scopes,
    connectionIds: row.connection_ids,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    createdAt: row.created_at,
  }))
}
