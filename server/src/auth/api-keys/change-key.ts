import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, InvalidInput, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type AuditDetails, type AuditEntry, recordAudit, workspaceEntry } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import { isScope } from './caller.ts'
import { checkKeySettings, type KeyChangesInput, mayAnswer, statusAt } from './key-schema.ts'
import type { LastCalls } from './last-calls.ts'
import {
  type ApiKeyRow,
  hashKeyValue,
  insertApiKey,
  type KeyChanges,
  type KeySettingsInput,
  lastFourOf,
  lockApiKey,
  makeKeyValue,
  notifyKeyChanged,
  updateApiKey,
} from './queries.ts'

export interface KeyDeps {
  db: Db
  keyStore: Pick<KeyStore, 'keyring'>
  clock: Clock
  /** From the guard: makes a change take effect on this node with the next request. */
  forgetKey(keyId: string): void
  /** Returns a stopped key's conversations to people, in the same transaction. */
  keyStopped(tx: Tx, keyring: Keyring, workspaceId: string, keyId: string): Promise<void>
  /** Returns a key's conversations on other connections than these to people, in the same transaction. */
  keyNarrowed(
    tx: Tx,
    keyring: Keyring,
    workspaceId: string,
    keyId: string,
    connectionIds: readonly string[],
  ): Promise<void>
  /** From the guard. */
  lastCalls: LastCalls['read']
  /** Returns the ids that are not connections of the workspace. */
  strangeConnections(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<string[]>
  /** Names of the tools of the interface for agents that can be switched off. */
  toolNames: readonly string[]
}

export interface NewKeyInput extends KeySettingsInput {
  workspaceId: string
  /** The member who is responsible for it; null if created from the command line or with the operator token. */
  createdBy: string | null
  /** The client that gets it by OAuth, and the host or scheme its browser is sent to. Nobody gets its value then. */
  oauth?: { clientId: string; redirectHost: string }
}

export interface KeyWithValue {
  key: ApiKeyRow
  /** `plk_…`. Not stored: only this result contains it. */
  value: string
}

export async function createKeyAs(deps: KeyDeps, by: Member, input: KeySettingsInput): Promise<KeyWithValue> {
  const now = deps.clock.now()
  refuseUnknownTools(deps, input.toolsOff ?? [])
  const created = await deps.db.tx(async (tx) => {
    const result = await createApiKey(tx, { ...input, workspaceId: by.workspaceId, createdBy: by.creatorId }, now)
    await refuseUnknownConnections(deps, tx, by.workspaceId, input.connectionIds ?? [])
    await recordChange(tx, by, 'api-key.created', result.key.id, now)
    return result
  })
  // Also clears cached misses, in case the new key was already tried.
  deps.forgetKey(created.key.id)
  return created
}

/** Creates a key with settings of `newKeySchema`. Throws `InvalidInput` if addresses, name or expiry are invalid. */
export async function createApiKey(tx: Tx, input: NewKeyInput, now: Date): Promise<KeyWithValue> {
  const settings = checkKeySettings(input, now)
  const value = makeKeyValue()
  const key = await insertApiKey(tx, {
    ...settings,
    workspaceId: input.workspaceId,
    id: newId(now),
    keyHash: Buffer.from(hashKeyValue(value), 'hex'),
    lastFour: lastFourOf(value),
    createdBy: input.createdBy,
    createdAt: now,
    oauthClient: input.oauth?.clientId ?? null,
    oauthRedirect: input.oauth?.redirectHost ?? null,
  })
  return { key, value }
}

/** Throws `InvalidInput` for ids that are not connections of the workspace. */
export async function refuseUnknownConnections(
  deps: Pick<KeyDeps, 'strangeConnections'>,
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
) {
  if (ids.length === 0) return
  const unknownIds = new Set(await deps.strangeConnections(tx, workspaceId, ids))
  const issues = ids.flatMap((id, at) =>
    unknownIds.has(id)
      ? [{ path: `connectionIds[${at}]`, message: 'must be the id of a connection of the workspace' }]
      : [],
  )
  if (issues.length > 0) throw new InvalidInput(issues)
}

function refuseUnknownTools({ toolNames }: KeyDeps, names: readonly string[]): void {
  const issues = names.flatMap((name, at) =>
    toolNames.includes(name)
      ? []
      : [{ path: `toolsOff[${at}]`, message: 'must be a tool of GET …/agent-tools that can be switched off' }],
  )
  if (issues.length > 0) throw new InvalidInput(issues)
}

/**
 * Changes a key's name, permissions, visibility, send limits, agent settings and whether new conversations are assigned to it. It keeps
 * its conversations, except those that it can no longer answer or see, which are returned to people.
 */
export async function changeKeyAs(
  deps: KeyDeps,
  by: Member,
  keyId: string,
  changes: KeyChangesInput,
): Promise<ApiKeyRow> {
  const now = deps.clock.now()
  refuseUnknownTools(deps, changes.toolsOff ?? [])
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  const changed = await deps.db.tx(async (tx) => {
    const key = await lockApiKey(tx, by.workspaceId, keyId)
    if (key === null) throw notFound('API key not found')
    if (statusAt(key, now) !== 'active') throw conflict('This API key no longer works. Create a new one')
    const newSettings = changedKey(key, changes, now)
    const [action] = changeActions.filter(({ settings }) =>
      settings.some((name) => !isDeepStrictEqual(key[name], newSettings[name])),
    )
    if (action === undefined) return key
    await refuseUnknownConnections(deps, tx, by.workspaceId, changes.connectionIds ?? [])
    await releaseLostConversations(deps, tx, keyring, key, newSettings)
    await recordChange(tx, by, action.action, keyId, now, detailsOf(key, newSettings))
    await notifyKeyChanged(tx, keyId)
    return updateApiKey(tx, by.workspaceId, keyId, newSettings)
  })
  deps.forgetKey(keyId)
  return changed
}

/** Sorted by importance: of several changes the audit log names the first. */
const changeActions: readonly { action: string; settings: readonly (keyof KeyChanges)[] }[] = [
  { action: 'api-key.permissions-changed', settings: ['scopes', 'connectionIds', 'allowlist', 'toolsOff'] },
  {
    action: 'api-key.changed',
    settings: [
      'answersNewConversations',
      'unansweredSends',
      'dailySends',
      'quietSeconds',
      'maxParts',
      'showTyping',
      'approval',
    ],
  },
  { action: 'api-key.renamed', settings: ['name'] },
]

/**
 * Returns the new settings. A key that loses the scope to answer gets no new conversations, unless the caller asks for
 * them explicitly, which is refused.
 */
function changedKey(key: ApiKeyRow, changes: KeyChangesInput, now: Date): KeyChanges {
  const scopes = changes.scopes ?? key.scopes.filter(isScope)
  const answersNewConversations = key.answersNewConversations && mayAnswer(scopes)
  const {
    phoneVisibility: _,
    expiresAt: _expiresAt,
    ...settings
  } = checkKeySettings({ ...key, answersNewConversations, ...changes, scopes }, now)
  return changes.scopes === undefined ? { ...settings, scopes: key.scopes } : settings
}

/** What the audit log keeps of a change: neither names nor addresses. */
function detailsOf(before: KeyChanges, { name: _name, allowlist: _allowlist, ...after }: KeyChanges): AuditDetails {
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  )
  return Object.fromEntries(
    changed.map((name) => [name, { before: keptValue(before[name]), after: keptValue(after[name]) }]),
  )
}

const keptValue = (value: KeyChanges[keyof KeyChanges]) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : value

async function releaseLostConversations(
  deps: KeyDeps,
  tx: Tx,
  keyring: Keyring,
  key: ApiKeyRow,
  newSettings: KeyChanges,
) {
  const { workspaceId, id } = key
  if (mayAnswer(key.scopes) && !mayAnswer(newSettings.scopes)) {
    await deps.keyStopped(tx, keyring, workspaceId, id)
  } else if (newSettings.connectionIds.length > 0 && !isDeepStrictEqual(key.connectionIds, newSettings.connectionIds)) {
    await deps.keyNarrowed(tx, keyring, workspaceId, id, newSettings.connectionIds)
  }
}

/** Revokes a key permanently. Repeating it returns the same result and changes nothing. */
export async function revokeKeyAs(deps: KeyDeps, by: Member, keyId: string): Promise<ApiKeyRow> {
  const now = deps.clock.now()
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  const { key } = await deps.db.tx((tx) => endKey(tx, deps, keyring, by, keyId, now))
  deps.forgetKey(keyId)
  return key
}

/**
 * Revokes a key, returns its conversations to people and records it; repeating it changes nothing. The caller must call
 * `forgetKey` after the commit.
 */
export async function endKey(
  tx: Tx,
  { keyStopped }: Pick<KeyDeps, 'keyStopped'>,
  keyring: Keyring,
  by: Pick<Member, 'workspaceId'> & Pick<AuditEntry, 'actor'>,
  keyId: string,
  now: Date,
): Promise<{ key: ApiKeyRow; changed: boolean }> {
  const result = await revokeApiKey(tx, by.workspaceId, keyId, now)
  if (result.changed) {
    await keyStopped(tx, keyring, by.workspaceId, keyId)
    await recordAudit(tx, workspaceEntry(by, 'api-key.revoked', `api-key:${keyId}`), now)
  }
  return result
}

/**
 * Revokes a key permanently; repeating it changes nothing. Other nodes are notified when the transaction commits. The
 * caller must invalidate this node's cache right after (`guard.invalidateKey`). Throws 404 for a key of another workspace.
 */
export async function revokeApiKey(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  now: Date,
): Promise<{ key: ApiKeyRow; changed: boolean }> {
  const found = await lockApiKey(tx, workspaceId, keyId)
  if (found === null) throw notFound('API key not found')
  if (found.revokedAt !== null) return { key: found, changed: false }
  const key = await updateApiKey(tx, workspaceId, keyId, tx`revoked_at = ${now}`)
  if (found.oauthClient !== null) {
    await tx`delete from oauth_tokens where workspace_id = ${workspaceId} and key_id = ${keyId}`
  }
  await notifyKeyChanged(tx, keyId)
  return { key, changed: true }
}

/** Replaces the value of a key. The previous one stops working immediately, or at the given time. */
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
 * Replaces the value of a key. The key keeps its id, and with it its conversations and idempotency records. The
 * previous value stops working immediately, or at `previousValidUntil` (at most 30 days ahead); older ones stop
 * immediately. Throws 404 for a key of another workspace and 409 for one that is revoked, expired or used by OAuth.
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
  if (current.revokedAt !== null) throw conflict('API key is revoked. Create a new one')
  if (current.oauthClient !== null) {
    throw conflict('This API key is used by OAuth and has no value to rotate. Revoke it and connect the app again')
  }
  if (current.expiresAt !== null && current.expiresAt <= now) throw conflict('API key has expired. Create a new one')
  const value = makeKeyValue()
  const newValue = tx`
    previous_key_hash = key_hash,
    previous_valid_until = ${previousValidUntil ?? now},
    key_hash = decode(${hashKeyValue(value)}, 'hex'),
    last_four = ${lastFourOf(value)}`
  const key = await updateApiKey(tx, workspaceId, keyId, newValue)
  await notifyKeyChanged(tx, keyId)
  return { key, value }
}

function recordChange(
  tx: Tx,
  by: Member,
  action: string,
  keyId: string,
  now: Date,
  details: AuditDetails = {},
): Promise<void> {
  const entry = workspaceEntry(by, action, `api-key:${keyId}`)
  return recordAudit(tx, Object.keys(details).length === 0 ? entry : { ...entry, details }, now)
}
