import { hash } from 'node:crypto'
import { isDistributed, keysLock, lockExclusive } from '../../base/citus/distributed-sql.ts'
import { type Db, type Fragment, publish, type Sql, type Tx } from '../../base/db.ts'
import { checksum62, createToken, randomBase62 } from '../../base/encryption/secret-token.ts'
import { leadSettingsColumns } from '../../base/lead-settings.ts'
import { selectedAs, withColumnNames } from '../../base/postgres/rows.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { recordAudit, systemActor, workspaceEntry } from '../../team/audit.ts'
import type { MemberWorkspace } from '../../team/member.ts'
import { hoursWithHolidays, type OpeningHours } from '../../team/opening-hours.ts'
import type { ApprovalRules } from './caller.ts'

/** The settings of a key. Phone visibility and expiry cannot be changed later. */
interface KeySettings {
  name: string
  scopes: string[]
  /** Empty: all connections of the workspace. */
  connectionIds: string[]
  phoneVisibility: 'full' | 'masked'
  /** Addresses and CIDR ranges, at most 100. Empty: any address. */
  allowlist: string[]
  /** Whether new conversations are assigned to it. */
  answersNewConversations: boolean
  /** Send limits; null: the defaults. Routes check the ranges. */
  unansweredSends: number | null
  dailySends: number | null
  /** Settings of the interface for agents; null: the defaults. Routes check the ranges. */
  quietSeconds: number | null
  maxParts: number | null
  /** Whether customers see that the agent is typing when it takes their messages. */
  showTyping: boolean
  approval: ApprovalRules | null
  /** Names of tools that the key cannot call. */
  toolsOff: string[]
  expiresAt: Date | null
}

/** The settings of a new key; `checkKeySettings` has the defaults of absent ones. */
export type KeySettingsInput = Pick<GivenSettings, 'name' | 'scopes'> & Partial<GivenSettings>
type GivenSettings = { [N in keyof KeySettings]: Readonly<KeySettings[N]> }

/** The settings of an active key that can be changed. */
export type KeyChanges = Omit<KeySettings, 'phoneVisibility' | 'expiresAt'>

export interface ApiKeyRow extends KeySettings {
  workspaceId: string
  id: string
  lastFour: string
  revokedAt: Date | null
  previousValidUntil: Date | null
  createdBy: string | null
  createdAt: Date
  lastUsedAt: Date | null
  /** The client that uses the key by OAuth, and the host or scheme its browser was sent to; null for other keys. */
  oauthClient: string | null
  oauthRedirect: string | null
}

/** Properties of a row that its callers need as well. */
const callerProperties = [
  ...(['workspaceId', 'id', 'name', 'scopes', 'connectionIds', 'phoneVisibility', 'allowlist'] as const),
  ...(['unansweredSends', 'dailySends', 'quietSeconds', 'maxParts', 'showTyping', 'approval', 'toolsOff'] as const),
  ...(['revokedAt', 'oauthClient'] as const),
]

const keyColumns = selectedAs('api_keys', [
  ...callerProperties,
  ...['lastFour', 'answersNewConversations', 'expiresAt', 'previousValidUntil'],
  ...['createdBy', 'createdAt', 'lastUsedAt', 'oauthRedirect'],
])

type NewApiKey = Omit<ApiKeyRow, 'revokedAt' | 'previousValidUntil' | 'lastUsedAt'> & { keyHash: Buffer }

/** Topic for workspaces in which a key with an expiry time was created. The message is the workspace id. */
export const expiringTopic = 'keys_expiring'

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRow> {
  if (key.expiresAt !== null) publish(tx, expiringTopic, key.workspaceId)
  const [row] = await tx<[ApiKeyRow]>`
    insert into api_keys ${tx.row(columnsOfKey(tx, key))}
    returning ${keyColumns}`
  return row
}

const columnsOfKey = (tx: Tx, key: NewApiKey | KeyChanges) =>
  withColumnNames({ ...key, approval: key.approval === null ? null : tx.json(key.approval) })

const selectKeys = (sql: Sql, workspaceId: string, rest: Fragment): Promise<ApiKeyRow[]> => sql<ApiKeyRow[]>`
  select ${keyColumns}
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

/** Changes an existing key: its settings, or by `assignments`, which follow `set`. */
export async function updateApiKey(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  change: KeyChanges | Fragment,
): Promise<ApiKeyRow> {
  const [row] = await tx<[ApiKeyRow]>`
    update api_keys
    set ${'scopes' in change ? tx.set(columnsOfKey(tx, change)) : change}
    where workspace_id = ${workspaceId}
    and id = ${keyId}
    returning ${keyColumns}`
  return row
}

/** Makes every node invalidate its cached key when the transaction commits. */
export async function notifyKeyChanged(tx: Tx, keyId: string): Promise<void> {
  await tx`select pg_notify('api_keys', ${keyId})`
}

export interface CachedKeyRow
  extends MemberWorkspace,
    Pick<ApiKeyRow, (typeof callerProperties)[number] | 'expiresAt'> {
  /** Publications for the workspace and for the key, together. */
  instructionsVersion: number
  /** Expiry of the value that was looked up, if it is the one before the last rotation. */
  validUntil: Date | null
  hours: OpeningHours | null
  /** Default of `maxParts` in the workspace. */
  agentMaxParts: number
  isSandbox: boolean
}

const callerColumns = selectedAs('k', callerProperties)
const workspaceColumns = selectedAs('w', ['leadsEnabled', 'inboxEnabled', 'inboxAvailable', 'agentMaxParts'])

/** Columns of a key `k` with its workspace `w`, but when it expires. */
const cachedColumns = (sql: Sql) => sql`
  ${callerColumns}, k.instructions_version + w.instructions_version as "instructionsVersion",
  ${leadSettingsColumns}, ${workspaceColumns}, ${hoursWithHolidays(sql)} as hours,
  w.sandbox_until is not null as "isSandbox"`

/** Finds keys by hash; null for each unknown. The only read without a workspace, because the key determines it. */
export async function selectKeysByHash(sql: Sql, hashes: readonly string[]): Promise<(CachedKeyRow | null)[]> {
  const rows = await sql<(CachedKeyRow & { hash: string })[]>`
    select asked.hash, ${cachedColumns(sql)}, k.expires_at as "expiresAt",
      case when k.key_hash = decode(asked.hash, 'hex') then null else k.previous_valid_until end as "validUntil"
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
    select ${cachedColumns(sql)}, k.expires_at as "expiresAt", null::timestamptz as "validUntil"
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
    select encode(t.token_hash, 'hex') as hash, ${cachedColumns(sql)}, null::timestamptz as "validUntil",
      least(k.expires_at, t.expires_at) as "expiresAt"
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
