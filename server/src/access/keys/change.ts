import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { conflict, InvalidInput, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import { hashKeyValue, lastFourOf, makeKeyValue } from './key-format.ts'
import { type KeyChangesInput, statusAt } from './key-schema.ts'
import { checkKeySettings, type KeySettingsInput, mayAnswer, needsAnsweringScope } from './key-settings.ts'
import {
  type ApiKeyRow,
  insertApiKey,
  type KeyChanges,
  lockApiKey,
  notifyKeyChanged,
  replaceValue,
  setRevoked,
  storeChanges,
} from './queries.ts'

export interface KeyDeps {
  db: Db
  vault: Pick<Vault, 'keyring'>
  clock: Clock
  /** The guard's, so that a change holds on this node from the next request on. */
  forgetKey(keyId: string): void
  /** What must happen in the same transaction when a key stops: its conversations go back to people. */
  keyStopped(tx: Tx, keyring: Keyring, workspaceId: string, keyId: string): Promise<void>
  /** Those of the ids that are no connection of the workspace. */
  strangeConnections(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<string[]>
}

export interface NewKeyInput extends KeySettingsInput {
  workspaceId: string
  /** The member who is responsible for it; null from the command line or with the operator's token. */
  createdBy: string | null
}

export interface KeyWithValue {
  key: ApiKeyRow
  /** `plk_…`: this is the only time it exists outside the caller's hands. */
  value: string
}

/** Makes a key of the member's workspace. */
export async function createKeyAs(deps: KeyDeps, by: Member, input: KeySettingsInput): Promise<KeyWithValue> {
  const now = deps.clock.now()
  const created = await deps.db.tx(async (tx) => {
    const made = await createApiKey(tx, { ...input, workspaceId: by.workspaceId, createdBy: by.makerId }, now)
    await refuseStrangeConnections(deps, tx, by.workspaceId, input.connectionIds ?? [])
    await recordChange(tx, by, 'api-key.created', made.key.id, now)
    return made
  })
  // With it goes what is remembered of keys that there were not.
  deps.forgetKey(created.key.id)
  return created
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

async function refuseStrangeConnections(deps: KeyDeps, tx: Tx, workspaceId: string, ids: readonly string[]) {
  if (ids.length === 0) return
  const strange = new Set(await deps.strangeConnections(tx, workspaceId, ids))
  const issues = ids.flatMap((id, at) =>
    strange.has(id)
      ? [{ path: `connectionIds[${at}]`, message: 'must be the id of a connection of the workspace' }]
      : [],
  )
  if (issues.length > 0) throw new InvalidInput(issues)
}

/** Changes whether a key gets customers who write for the first time, and how much it may send. Its conversations stay its own. */
export async function changeKeyAs(
  deps: KeyDeps,
  by: Member,
  keyId: string,
  changes: KeyChangesInput,
): Promise<ApiKeyRow> {
  const now = deps.clock.now()
  const changed = await deps.db.tx(async (tx) => {
    const key = await lockApiKey(tx, by.workspaceId, keyId)
    if (key === null) throw notFound('API key not found')
    if (statusAt(key, now) !== 'active') throw conflict('This API key no longer works. Create a new one')
    if (changes.answersNewConversations && !mayAnswer(key.scopes)) throw new InvalidInput([needsAnsweringScope])
    const wanted: KeyChanges = {
      answers_new_conversations: changes.answersNewConversations ?? key.answers_new_conversations,
      unanswered_sends: changes.unansweredSends === undefined ? key.unanswered_sends : changes.unansweredSends,
      daily_sends: changes.dailySends === undefined ? key.daily_sends : changes.dailySends,
    }
    if (isSame(key, wanted)) return key
    await recordChange(tx, by, 'api-key.changed', keyId, now)
    await notifyKeyChanged(tx, keyId)
    return storeChanges(tx, by.workspaceId, keyId, wanted)
  })
  deps.forgetKey(keyId)
  return changed
}

const isSame = (key: KeyChanges, wanted: KeyChanges): boolean =>
  key.answers_new_conversations === wanted.answers_new_conversations &&
  key.unanswered_sends === wanted.unanswered_sends &&
  key.daily_sends === wanted.daily_sends

/** Ends a key for good. A repeat returns the same and changes nothing. */
export async function revokeKeyAs(deps: KeyDeps, by: Member, keyId: string): Promise<ApiKeyRow> {
  const now = deps.clock.now()
  const keyring = await deps.vault.keyring(by.workspaceId)
  const key = await deps.db.tx(async (tx) => {
    const { key: revoked, changed } = await revokeApiKey(tx, by.workspaceId, keyId, now)
    if (!changed) return revoked
    await deps.keyStopped(tx, keyring, by.workspaceId, keyId)
    await recordChange(tx, by, 'api-key.revoked', keyId, now)
    return revoked
  })
  deps.forgetKey(keyId)
  return key
}

/**
 * Ends a key for good; a repeat changes nothing. Other nodes are told when the transaction commits: this node's
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

/** Gives a key a new value; the one before stops at once, or at the given time. */
export async function rotateKeyAs(
  deps: KeyDeps,
  by: Member,
  keyId: string,
  previousValidUntil: Date | null,
): Promise<KeyWithValue> {
  const now = deps.clock.now()
  const rotated = await deps.db.tx(async (tx) => {
    const renewed = await rotateApiKey(tx, by.workspaceId, keyId, previousValidUntil, now)
    await recordChange(tx, by, 'api-key.rotated', keyId, now)
    return renewed
  })
  deps.forgetKey(keyId)
  return rotated
}

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

function recordChange(tx: Tx, by: Member, action: string, keyId: string, now: Date): Promise<void> {
  return recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action, target: `api-key:${keyId}` }, now)
}
