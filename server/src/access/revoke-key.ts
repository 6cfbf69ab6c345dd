import type { Tx } from '../base/db.ts'
import { notFound } from '../base/errors.ts'
import { type ApiKeyRow, notifyKeyChanged, setRevoked } from './queries.ts'

/**
 * Ends a key for good; a repeat changes nothing. Other nodes hear of it when the transaction commits: this node's
 * guard must forget the key right after (`guard.forgetKey`). Throws 404 for a key of another workspace.
 */
export async function revokeApiKey(tx: Tx, workspaceId: string, keyId: string, now: Date): Promise<ApiKeyRow> {
  const key = await setRevoked(tx, workspaceId, keyId, now)
  if (key === null) throw notFound('API key not found')
  await notifyKeyChanged(tx, keyId)
  return key
}
