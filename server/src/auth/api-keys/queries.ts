import { hash } from 'node:crypto'
import { isDistributed, keysOf, lockExclusive } from '../../base/citus/distributed-sql.ts'
import { type Db, publish, type Sql, type Tx } from '../../base/db.ts'
import { checksum62, randomBase62 } from '../../base/encryption/secret-token.ts'
import { type LeadSettingsRow, leadSettingsColumns } from '../../base/lead-settings.ts'
import { recordAudit } from '../../team/audit.ts'
import type { OpeningHours } from '../../team/opening-hours.ts'

export interface ApiKeyRow {
  workspace_id: string
  id: string
  name: string
  last_four: string
  scopes: string[]
  connection_ids: string[]
  phone_visibility: 'full' | 'masked'
  allowlist: string[]
  answers_new_conversations: boolean
  unanswered_sends: number | null
  daily_sends: number | null
  expires_at: Date | null
  revoked_at: Date | null
  previous_valid_until: Date | null
  created_by: string | null
  created_at: Date
  last_used_at: Date | null
}

const shownColumns = (sql: Sql) => sql`
  workspace_id, id, name, last_four, scopes, connection_ids, phone_visibility, allowlist,
  answers_new_conversations, unanswered_sends, daily_sends, expires_at, revoked_at, previous_valid_until, created_by,
  created_at, last_used_at`

/** What is chosen when a key is made. Who sees phones, and until when it works, stays as it is for the key's life. */
export interface KeySettingsInput {
  name: string
  scopes: readonly string[]
  /** Empty or absent: every connection of the workspace. */
  connectionIds?: readonly string[]
  phoneVisibility?: 'full' | 'masked'
  /** Addresses and CIDR ranges, at most 100; empty or absent: any address. */
  allowlist?: readonly string[]
  /** Whether it gets customers who write for the first time; absent: if it may answer them. */
  answersNewConversations?: boolean
  /** How much it may send; null or absent: the usual. Routes know the ranges. */
  unansweredSends?: number | null
  dailySends?: number | null
  expiresAt?: Date | null
}

interface NewApiKey extends Required<KeySettingsInput> {
  workspaceId: string
  id: string
  keyHash: string
  lastFour: string
  createdBy: string | null
  createdAt: Date
}

/** A key that is to expire was made in the workspace, which is the id. */
export const expiringTopic = 'keys_expiring'

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRow> {
  if (key.expiresAt !== null) publish(tx, expiringTopic, key.workspaceId)
  const [row] = await tx<[ApiKeyRow]>`
    insert into api_keys (
      workspace_id, id, name, key_hash, last_four, scopes, connection_ids, phone_visibility, allowlist,
      answers_new_conversations, unanswered_sends, daily_sends, expires_at, created_by, created_at
    )
    values (
      ${key.workspaceId}, ${key.id}, ${key.name}, decode(${key.keyHash}, 'hex'), ${key.lastFour},
      ${[...key.scopes]}::text[], ${[...key.connectionIds]}::uuid[], ${key.phoneVisibility}, ${[...key.allowlist]}::text[],
      ${key.answersNewConversations}, ${key.unansweredSends}, ${key.dailySends}, ${key.expiresAt}, ${key.createdBy},
      ${key.createdAt}
    )
    returning ${shownColumns(tx)}`
  return row
}

export async function selectApiKeys(sql: Sql, workspaceId: string): Promise<ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`
    select ${shownColumns(sql)}
    from api_keys
    where workspace_id = ${workspaceId}
    order by id desc`
}

/** The keys that this person is responsible for, and that still work. */
export async function selectUsableKeysOf(
  sql: Sql,
  workspaceId: string,
  userId: string,
  now: Date,
): Promise<ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`
    select ${shownColumns(sql)}
    from api_keys
    where workspace_id = ${workspaceId}
    and created_by = ${userId}
    and revoked_at is null
    and (expires_at is null or expires_at > ${now})
    order by id desc`
}

export async function selectApiKey(sql: Sql, workspaceId: string, keyId: string): Promise<ApiKeyRow | null> {
  const [row] = await sql<ApiKeyRow[]>`
    select ${shownColumns(sql)}
    from api_keys
    where workspace_id = ${workspaceId}
    and id = ${keyId}`
  return row ?? null
}

export async function lockApiKey(tx: Tx, workspaceId: string, keyId: string): Promise<ApiKeyRow | null> {
  if (isDistributed(tx)) await lockExclusive(tx, keysOf(workspaceId))
  const [row] = await tx<ApiKeyRow[]>`
    select ${shownColumns(tx)}
    from api_keys
    where workspace_id = ${workspaceId}
    and id = ${keyId}
    for update`
  return row ?? null
}

export async function setRevoked(tx: Tx, workspaceId: string, keyId: string, at: Date): Promise<ApiKeyRow> {
  const [row] = await tx<[ApiKeyRow]>`
    update api_keys
    set revoked_at = ${at}
    where workspace_id = ${workspaceId}
    and id = ${keyId}
    returning ${shownColumns(tx)}`
  return row
}

/** What of a key can be changed while it works. */
export type KeyChanges = Pick<
  ApiKeyRow,
  'name' | 'scopes' | 'connection_ids' | 'allowlist' | 'answers_new_conversations' | 'unanswered_sends' | 'daily_sends'
>

export async function storeChanges(tx: Tx, workspaceId: string, keyId: string, to: KeyChanges): Promise<ApiKeyRow> {
  const [row] = await tx<[ApiKeyRow]>`
    update api_keys
    set name = ${to.name},
      scopes = ${[...to.scopes]}::text[],
      connection_ids = ${[...to.connection_ids]}::uuid[],
      allowlist = ${[...to.allowlist]}::text[],
      answers_new_conversations = ${to.answers_new_conversations},
      unanswered_sends = ${to.unanswered_sends},
      daily_sends = ${to.daily_sends}
    where workspace_id = ${workspaceId}
    and id = ${keyId}
    returning ${shownColumns(tx)}`
  return row
}

interface NewValue {
  keyHash: string
  lastFour: string
  previousValidUntil: Date
}

export async function replaceValue(tx: Tx, workspaceId: string, keyId: string, value: NewValue): Promise<ApiKeyRow> {
  const [row] = await tx<[ApiKeyRow]>`
    update api_keys
    set previous_key_hash = key_hash,
      previous_valid_until = ${value.previousValidUntil},
      key_hash = decode(${value.keyHash}, 'hex'),
      last_four = ${value.lastFour}
    where workspace_id = ${workspaceId}
    and id = ${keyId}
    returning ${shownColumns(tx)}`
  return row
}

/** Tells every node, when the transaction commits, to forget what it knows of the key. */
export async function notifyKeyChanged(tx: Tx, keyId: string): Promise<void> {
  await tx`select pg_notify('api_keys', ${keyId})`
}

export interface CachedKeyRow extends LeadSettingsRow {
  workspace_id: string
  id: string
  name: string
  scopes: string[]
  connection_ids: string[]
  phone_visibility: 'full' | 'masked'
  allowlist: string[]
  unanswered_sends: number | null
  daily_sends: number | null
  expires_at: Date | null
  revoked_at: Date | null
  /** Until when the shown value works, if it is the one before the last rotation. */
  valid_until: Date | null
  leads_enabled: boolean
  inbox_enabled: boolean
  inbox_available: boolean
  hours: OpeningHours | null
}

/** The one read that cannot start from a workspace: the value of the key tells which one it is. Null for each unknown. */
export async function selectKeysByHash(sql: Sql, hashes: readonly string[]): Promise<(CachedKeyRow | null)[]> {
  const rows = await sql<(CachedKeyRow & { hash: string })[]>`
    select asked.hash, k.workspace_id, k.id, k.name, k.scopes, k.connection_ids, k.phone_visibility, k.allowlist,
      k.unanswered_sends, k.daily_sends, k.expires_at, k.revoked_at,
      case when k.key_hash = decode(asked.hash, 'hex') then null else k.previous_valid_until end as valid_until,
      ${leadSettingsColumns(sql)}, w.leads_enabled, w.inbox_enabled, w.inbox_available, w.hours
    from unnest(${[...hashes]}::text[]) as asked (hash)
    join api_keys k
      on k.key_hash = decode(asked.hash, 'hex')
      or k.previous_key_hash = decode(asked.hash, 'hex')
    join workspaces w on w.id = k.workspace_id`
  const byHash = new Map(rows.map(({ hash, ...row }) => [hash, row]))
  return hashes.map((hash) => byHash.get(hash) ?? null)
}

interface KeyUse {
  workspaceId: string
  keyId: string
  at: Date
}

/** Several nodes see one key: the minute is kept here, so that together they write once. */
export async function recordKeyUses(tx: Tx, uses: readonly KeyUse[]): Promise<void> {
  await tx`
    update api_keys k
    set last_used_at = used.at
    from unnest(
      ${uses.map((use) => use.workspaceId)}::uuid[],
      ${uses.map((use) => use.keyId)}::uuid[],
      ${uses.map((use) => use.at.toISOString())}::timestamptz[],
      ${uses.map((use) => new Date(use.at.getTime() - 60_000).toISOString())}::timestamptz[]
    ) as used (workspace_id, id, at, minute_before)
    where k.workspace_id = used.workspace_id
    and k.id = used.id
    and (k.last_used_at is null or k.last_used_at <= used.minute_before)`
}

// `plk_<22 random>_<6 checksum>`, both base62: the prefix is found by secret scanners, the checksum turns a typo
// down without a database read, and an underscore lets a double click select the whole.
const prefix = 'plk_'
const randomLength = 22
const checksumLength = 6
const shape = /^plk_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$/

/** A new key value of about 131 random bits. */
export function makeKeyValue(): string {
  const body = prefix + randomBase62(randomLength)
  return `${body}_${checksum62(body)}`
}

/** Whether the text has the form of a key and its checksum fits. */
export function isKeyValue(text: string): boolean {
  return shape.test(text) && text.slice(-checksumLength) === checksum62(text.slice(0, prefix.length + randomLength))
}

/** SHA-256 as lower-case hex: the value is long and random, so a slow hash would only slow us down. */
export function hashKeyValue(value: string): string {
  return hash('sha256', value, 'hex')
}

export function lastFourOf(value: string): string {
  return value.slice(-4)
}

/** How a key is shown after its creation: `plk_…abcd`. */
export function shownKey(lastFour: string): string {
  return `${prefix}…${lastFour}`
}

/** Why a key was told to pause: it called in vain again and again, or sent the same words to many. */
export type PauseReason = 'same_call' | 'same_text'

/** Lets people see that a key was told to pause, for which it did not ask. */
export async function storePause(
  db: Db,
  workspaceId: string,
  keyId: string,
  why: PauseReason,
  now: Date,
): Promise<void> {
  await db.tx(async (tx) => {
    await tx`
      update api_keys
      set paused_at = ${now},
        paused_why = ${why}
      where workspace_id = ${workspaceId}
        and id = ${keyId}`
    const actor = { type: 'system', id: null } as const
    await recordAudit(tx, { scopeId: workspaceId, actor, action: 'api-key.paused', target: `api-key:${keyId}` }, now)
  })
}
