import type { Tx } from '../../base/db.ts'
import { conflict, invalid, notFound } from '../../base/errors.ts'
import type { KeyWithValue } from './create-key.ts'
import { hashKeyValue, lastFourOf, makeKeyValue } from './key-format.ts'
import { lockApiKey, notifyKeyChanged, replaceValue } from './queries.ts'

const maxOverlapMs = 30 * 24 * 3_600_000

/**
 * Gives a key a new value. The key stays the same one, so its conversations and idempotency records stay its own.
 * The value before stops at once, or at `previousValidUntil` (at most 30 days ahead); older ones stop at once.
 * Throws 404 for a key of another workspace and 409 for one that is revoked or expired.
 */
export async function rotateApiKey(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  previousValidUntil: Date | null,
  now: Date,
): Promise<KeyWithValue> {
  const overlapMs = previousValidUntil === null ? 0 : previousValidUntil.getTime() - now.getTime()
  if (!(overlapMs >= 0 && overlapMs <= maxOverlapMs)) {
    throw invalid('previousValidUntil', 'must be in the future, by at most 30 days')
  }
  const current = await lockApiKey(tx, workspaceId, keyId)
  if (current === null) throw notFound('API key not found')
  if (current.revoked_at !== null) throw conflict('API key is revoked. Create a new one')
  if (current.expires_at !== null && current.expires_at <= now) throw conflict('API key has expired. Create a new one')
  const value = makeKeyValue()
  const key = await replaceValue(tx, workspaceId, keyId, {
    keyHash: hashKeyValue(value),
    lastFour: lastFourOf(value),
    previousValidUntil: previousValidUntil ?? now,
  })
  await notifyKeyChanged(tx, keyId)
  return { key, value }
}
