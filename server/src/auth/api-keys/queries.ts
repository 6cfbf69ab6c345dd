import { hash } from 'node:crypto'
import { isDistributed, keysLock, lockExclusive } from '../../base/citus/distributed-sql.ts'
import { type Db, type Fragment, publish, type Sql, type Tx } from '../../base/db.ts'
import { checksum62, createToken, randomBase62 } from '../../base/encryption/secret-token.ts'
import { type LeadSettingsRow, leadSettingsColumns } from '../../base/lead-settings.ts'
import type { TemplateValue } from '../../base/postgres/template.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { recordAudit, systemActor, workspaceEntry } from '../../team/audit.ts'
import { hoursWithHolidays, type OpeningHours } from '../../team/opening-hours.ts'
import type { ApprovalRules } from './caller.ts'

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
  quiet_seconds: number | null
  max_parts: number | null
  show_typing: boolean
  approval: ApprovalRules | null
  tools_off: string[]
  expires_at: Date | null
  revoked_at: Date | null
  previous_valid_until: Date | null
  created_by: string | null
  created_at: Date
  last_used_at: Date | null
  /** The client that uses the key by OAuth, and where its browser was sent back to; null for other keys. */
  oauth_client: string | null
  oauth_redirect: string | null
}

const keyColumns = (sql: Sql) => sql`
  workspace_id, id, name, last_four, scopes, connection_ids, phone_visibility, allowlist,
  answers_new_conversations, unanswered_sends, daily_sends, quiet_seconds, max_parts, show_typing, approval, tools_off,
  expires_at, revoked_at, previous_valid_until, created_by, created_at, last_used_at, oauth_client, oauth_redirect`

/** The settings of a new key. Phone visibility and expiry cannot be changed later. */
export interface KeySettingsInput {
  name: string
  scopes: readonly string[]
  /** Empty or absent: all connections of the workspace. */
  connectionIds?: readonly string[]
  phoneVisibility?: 'full' | 'masked'
  /** Addresses and CIDR ranges, at most 100. Empty or absent: any address. */
  allowlist?: readonly string[]
  /** Whether new conversations are assigned to it. Default: whether it may answer them. */
  answersNewConversations?: boolean
  /** Send limits; null or absent: the defaults. Routes check the ranges. */
  unansweredSends?: number | null
  dailySends?: number | null
  /** Settings of the interface for agents; null or absent: the defaults. Routes check the ranges. */
  quietSeconds?: number | null
  maxParts?: number | null
  /** Whether customers see that the agent is typing when it takes their messages. Default: false. */
  showTyping?: boolean
  approval?: ApprovalRules | null
  /** Names of tools that the key cannot call. */
  toolsOff?: readonly string[]
  expiresAt?: Date | null
}

/** The client that gets a key by OAuth, and the host or scheme that its browser is sent back to. */
export interface OAuthClientOfKey {
  clientId: string
  redirectHost: string
}

interface NewApiKey extends Required<KeySettingsInput> {
  workspaceId: string
  id: string
  keyHash: string
  lastFour: string
  createdBy: string | null
  createdAt: Date
  oauth: OAuthClientOfKey | null
}

/** Topic for workspaces in which a key with an expiry time was created. The message is the workspace id. */
export const expiringTopic = 'keys_expiring'

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRow> {
  if (key.expiresAt !== null) publish(tx, expiringTopic, key.workspaceId)
  const [row] = await tx<[ApiKeyRow]>`
    insert into api_keys (
      workspace_id, id, name, key_hash, last_four, scopes, connection_ids, phone_visibility, allowlist,
      answers_new_conversations, unanswered_sends, daily_sends, quiet_seconds, max_parts, show_typing, approval,
      tools_off, expires_at, created_by, created_at, oauth_client, oauth_redirect
    )
    values (
      ${key.workspaceId}, ${key.id}, ${key.name}, decode(${key.keyHash}, 'hex'), ${key.lastFour},
      ${[...key.scopes]}::text[], ${[...key.connectionIds]}::uuid[], ${key.phoneVisibility}, ${[...key.allowlist]}::text[],
      ${key.answersNewConversations}, ${key.unansweredSends}, ${key.dailySends}, ${key.quietSeconds}, ${key.maxParts},
      ${key.showTyping}, ${key.approval === null ? null : tx.json(key.approval)}::jsonb,
      ${[...key.toolsOff]}::text[], ${key.expiresAt}, ${key.createdBy}, ${key.createdAt},
      ${key.oauth?.clientId ?? null}, ${key.oauth?.redirectHost ?? null}
    )
    returning ${keyColumns(tx)}`
  return row
}

const selectKeys = (sql: Sql, workspaceId: string, rest: Fragment): Promise<ApiKeyRow[]> => sql<ApiKeyRow[]>`
  select ${keyColumns(sql)}
  from api_keys
  where workspace_id = ${workspaceId}
    ${rest}`

export const selectApiKeys = (sql: Sql, workspaceId: string): Promise<ApiKeyRow[]> =>
  selectKeys(sql, workspaceId, sql`order by id desc`)

/** Returns the active keys that this person is responsible for. */
export const selectActiveKeysOf = (sql: Sql, workspaceId: string, userId: string, now: Date): Promise<ApiKeyRow[]> =>
  selectKeys(
    sql,
    workspaceId,
    sql`and created_by = ${userId} and revoked_at is null and (expires_at is null or expires_at > ${now}) order by id desc`,
  )

export async function selectApiKey(sql: Sql, workspaceId: string, keyId: string): Promise<ApiKeyRow | null> {
  const [row] = await selectKeys(sql, workspaceId, sql`and id = ${keyId}`)
  return row ?? null
}

export async function lockApiKey(tx: Tx, workspaceId: string, keyId: string): Promise<ApiKeyRow | null> {
  if (isDistributed(tx)) await lockExclusive(tx, keysLock(workspaceId))
  const [row] = await selectKeys(tx, workspaceId, tx`and id = ${keyId} for update`)
  return row ?? null
}

/** Changes an existing key; `assignments` follow `set`. */
export async function updateApiKey(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  assignments: TemplateValue,
): Promise<ApiKeyRow> {
  const [row] = await tx<[ApiKeyRow]>`
    update api_keys
    set ${assignments}
    where workspace_id = ${workspaceId}
    and id = ${keyId}
    returning ${keyColumns(tx)}`
  return row
}

/** The settings of an active key that can be changed. */
export type KeyChanges = Pick<
  ApiKeyRow,
  | ('name' | 'scopes' | 'connection_ids' | 'allowlist' | 'answers_new_conversations')
  | ('unanswered_sends' | 'daily_sends' | 'quiet_seconds' | 'max_parts' | 'show_typing' | 'approval' | 'tools_off')
>

/** Makes every node invalidate its cached key when the transaction commits. */
export async function notifyKeyChanged(tx: Tx, keyId: string): Promise<void> {
  await tx`select pg_notify('api_keys', ${keyId})`
}

type UncachedColumn =
  | ('last_four' | 'answers_new_conversations' | 'previous_valid_until')
  | ('created_by' | 'created_at' | 'last_used_at' | 'oauth_redirect')

export interface CachedKeyRow extends LeadSettingsRow, Omit<ApiKeyRow, UncachedColumn> {
  /** Publications for the workspace and for the key, together. */
  instructions_version: number
  /** Expiry of the value that was looked up, if it is the one before the last rotation. */
  valid_until: Date | null
  leads_enabled: boolean
  inbox_enabled: boolean
  inbox_available: boolean
  hours: OpeningHours | null
  /** Default of `max_parts` in the workspace. */
  agent_max_parts: number
  is_sandbox: boolean
}

/** Columns of a key `k` with its workspace `w`, but when it expires. */
const cachedColumns = (sql: Sql) => sql`
  k.workspace_id, k.id, k.name, k.scopes, k.connection_ids, k.phone_visibility, k.allowlist, k.unanswered_sends,
  k.daily_sends, k.quiet_seconds, k.max_parts, k.show_typing, k.approval, k.tools_off, k.revoked_at, k.oauth_client,
  k.instructions_version + w.instructions_version as instructions_version,
  ${leadSettingsColumns(sql)}, w.leads_enabled, w.inbox_enabled, w.inbox_available, ${hoursWithHolidays(sql)} as hours, w.agent_max_parts,
  w.sandbox_until is not null as is_sandbox`

/** Finds keys by hash; null for each unknown. The only read without a workspace, because the key determines it. */
export async function selectKeysByHash(sql: Sql, hashes: readonly string[]): Promise<(CachedKeyRow | null)[]> {
  const rows = await sql<(CachedKeyRow & { hash: string })[]>`
    select asked.hash, ${cachedColumns(sql)}, k.expires_at,
      case when k.key_hash = decode(asked.hash, 'hex') then null else k.previous_valid_until end as valid_until
    from unnest(${[...hashes]}::text[]) as asked (hash)
    join api_keys k
      on k.key_hash = decode(asked.hash, 'hex')
      or k.previous_key_hash = decode(asked.hash, 'hex')
    join workspaces w on w.id = k.workspace_id`
  const byHash = new Map(rows.map(({ hash, ...row }) => [hash, row]))
  return hashes.map((hash) => byHash.get(hash) ?? null)
}

/** Returns an active key as its requests would be served; null if there is none. */
export async function selectKeyAsCaller(
  sql: Sql,
  workspaceId: string,
  keyId: string,
  now: Date,
): Promise<CachedKeyRow | null> {
  const [row] = await sql<CachedKeyRow[]>`
    select ${cachedColumns(sql)}, k.expires_at, null::timestamptz as valid_until
    from api_keys k
    join workspaces w on w.id = k.workspace_id
    where k.workspace_id = ${workspaceId}
    and k.id = ${keyId}
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > ${now})`
  return row ?? null
}

/** Finds keys by the hash of an OAuth access token; null for each unknown. What it finds expires with the token. */
export async function selectKeysByToken(sql: Sql, hashes: readonly string[]): Promise<(CachedKeyRow | null)[]> {
  const rows = await sql<(CachedKeyRow & { hash: string })[]>`
    select encode(t.token_hash, 'hex') as hash, ${cachedColumns(sql)}, null::timestamptz as valid_until,
      least(k.expires_at, t.expires_at) as expires_at
    from oauth_tokens t
    join api_keys k
      on k.workspace_id = t.workspace_id
      and k.id = t.key_id
    join workspaces w on w.id = k.workspace_id
    where t.token_hash = any (${byteaArray(hashes.map((hex) => Buffer.from(hex, 'hex')))}::bytea[])
      and t.kind = 'access'`
  const byHash = new Map(rows.map(({ hash, ...row }) => [hash, row]))
  return hashes.map((hash) => byHash.get(hash) ?? null)
}

interface KeyUse {
  workspaceId: string
  keyId: string
  at: Date
}

/** Stores last uses. The condition is in the statement, so that several nodes together write once a minute per key. */
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

// `plk_<22 random>_<6 checksum>`, both base62. Secret scanners find the prefix, the checksum rejects typos without a
// database read, and the underscores let a double click select the whole value.
const prefix = 'plk_'
const randomLength = 22
const checksumLength = 6
const keyPattern = /^plk_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$/

/** Returns a new key value of about 131 random bits. */
export function makeKeyValue(): string {
  const body = prefix + randomBase62(randomLength)
  return `${body}_${checksum62(body)}`
}

/** Returns whether the text has the form of a key and its checksum matches. */
export function isKeyValue(text: string): boolean {
  return (
    keyPattern.test(text) && text.slice(-checksumLength) === checksum62(text.slice(0, prefix.length + randomLength))
  )
}

const accessTokenPattern = /^plo_[\w-]{43}$/

/** Returns a new OAuth access token. Its prefix tells it from a key without a query, and secret scanners find it. */
export const makeAccessToken = (): string => `plo_${createToken()}`

export const isAccessToken = (text: string): boolean => accessTokenPattern.test(text)

/** Returns the SHA-256 as lower-case hex. The value is long and random, so a slow hash would add no security. */
export function hashKeyValue(value: string): string {
  return hash('sha256', value, 'hex')
}

export function lastFourOf(value: string): string {
  return value.slice(-4)
}

/** Returns how a key is shown after its creation: `plk_…abcd`. */
export function keyLabel(lastFour: string): string {
  return `${prefix}…${lastFour}`
}

/** Reason for pausing a key: repeated identical failing calls, or the same text sent to many customers. */
export type PauseReason = 'same_call' | 'same_text'

/** Records that a key was paused, so that people can see it. */
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
    const by = { workspaceId, actor: systemActor }
    await recordAudit(tx, workspaceEntry(by, 'api-key.paused', `api-key:${keyId}`), now)
  })
}
