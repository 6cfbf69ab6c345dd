import type { Tx } from '../../base/db.ts'
import { notFound } from '../../base/errors.ts'
import { type ApiKeyRow, lockApiKey, notifyKeyChanged, setRevoked } from './queries.ts'

/**
 * Ends a key for good; a repeat changes nothing. Other nodes hear of it when the transaction commits: this node's
 * guard must forget the key right after (`guard.forgetKey`). Throws 404 for a key of another workspace.
 */
export async function revokeApiKey(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  now: Date,
): Promise<{ key: ApiKeyRow; changed: boolean }> {
  const found = await lockApiKey(tx, workspaceId, keyId)
  if (found === null) throw notFound('API key not found')
  if (found.revoked_at !== null) return { key: found, changed: false }
  const key = await setRevoked(tx, workspaceId, keyId, now)
  await notifyKeyChanged(tx, keyId)
  return { key, changed: true }
}
