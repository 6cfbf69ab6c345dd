import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { hashKeyValue, lastFourOf, makeKeyValue } from './key-format.ts'
import { checkKeySettings, type KeySettingsInput } from './key-settings.ts'
import { type ApiKeyRow, insertApiKey } from './queries.ts'

export interface NewKeyInput extends KeySettingsInput {
  workspaceId: string
  /** The member who answers for it; null from the command line or with the operator's token. */
  createdBy: string | null
}

export interface KeyWithValue {
  key: ApiKeyRow
  /** `plk_…`: this is the only time it exists outside the caller's hands. */
  value: string
}

/** Makes a key; throws `InvalidInput` when scopes, addresses, name or expiry do not fit. */
export async function createApiKey(tx: Tx, input: NewKeyInput, now: Date): Promise<KeyWithValue> {
  const settings = checkKeySettings(input, now)
  const value = makeKeyValue()
  const key = await insertApiKey(tx, {
    ...settings,
    workspaceId: input.workspaceId,
    id: newId(now),
    keyHash: hashKeyValue(value),
    lastFour: lastFourOf(value),
    createdBy: input.createdBy,
    createdAt: now,
  })
  return { key, value }
}
