import { hash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Sql, Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { createToken, hashToken, isSameSecret } from '../../base/encryption/secret-token.ts'
import { recordAudit, systemActor, workspaceEntry } from '../../team/audit.ts'
import { createApiKey, endKey, type KeyDeps, type NewKeyInput } from '../api-keys/change-key.ts'
import { statusAt } from '../api-keys/key-schema.ts'
import { type ApiKeyRow, lockApiKey, makeAccessToken, notifyKeyChanged, updateApiKey } from '../api-keys/queries.ts'
import { maxClientIdLength, type OAuthClient } from './clients.ts'
import { invalidGrant, OAuthError } from './oauth-error.ts'
import { isOwnResource, redirectHost } from './redirects.ts'

export interface TokenDeps extends KeyDeps {
  publicUrl: string
  /** Finds and authenticates the client of the request. Throws `invalid_client`. */
  authenticate(form: TokenForm): Promise<OAuthClient>
}

const field = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
/** Fields of a token or revocation request. */
export const tokenForm = Type.Object({
  grant_type: field(100),
  client_id: field(maxClientIdLength),
  client_assertion: field(16_384),
  client_assertion_type: field(100),
  code: field(200),
  code_verifier: field(200),
  redirect_uri: field(2000),
  refresh_token: field(200),
  resource: field(2000),
  token: field(200),
})
export type TokenForm = Static<typeof tokenForm>

interface TokenAnswer {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  refresh_token: string
  scope: string
}

const accessSeconds = 3600
const dayMs = 24 * 3_600_000
/** A connection that is not used for so long ends, and its key expires. */
const refreshMs = 90 * dayMs
/** Spent refresh tokens are kept for so long, to notice when one is used again. */
const spentMs = 7 * dayMs
/** A client that lost the answer may ask again for so long. */
const repeatMs = 30_000
const maxAccessTokens = 10

/** The grant that ended because a code or refresh token was used twice. */
interface Ended {
  endedKeyId: string
}

export async function exchangeToken(deps: TokenDeps, form: TokenForm): Promise<TokenAnswer> {
  if (!isOwnResource(deps.publicUrl, form.resource)) {
    throw new OAuthError('invalid_target', 'resource is another server')
  }
  if (form.grant_type === 'authorization_code') return answerOf(deps, await redeemCode(deps, form))
  if (form.grant_type === 'refresh_token') return answerOf(deps, await refresh(deps, form))
  throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token')
}

// A theft is noticed in a transaction that must commit, so it is an outcome and no error.
function answerOf(deps: TokenDeps, outcome: TokenAnswer | Ended): TokenAnswer {
  if (!('endedKeyId' in outcome)) return outcome
  deps.forgetKey(outcome.endedKeyId)
  throw invalidGrant()
}

interface CodeRow {
  client_id: string
  redirect_uri: string
  code_challenge: string
  settings: Omit<NewKeyInput, 'workspaceId' | 'createdBy' | 'oauth'>
  created_by: string | null
  actor_type: 'user' | 'token'
  actor_id: string
  expires_at: Date
  key_id: string | null
  used_at: Date | null
}

/** Makes the key of a grant. A code that comes twice was stolen: what it gave ends. */
async function redeemCode(deps: TokenDeps, form: TokenForm): Promise<TokenAnswer | Ended> {
  const codeHash = hashToken(form.code ?? '')
  const workspaceId = await findWorkspace(deps.db.sql, 'oauth_codes', codeHash)
  const client = await deps.authenticate(form)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const now = deps.clock.now()
  return deps.db.tx(async (tx) => {
    const [code] = await tx<CodeRow[]>`
      select client_id, redirect_uri, code_challenge, settings, created_by, actor_type, actor_id, expires_at, key_id,
        used_at
      from oauth_codes
      where workspace_id = ${workspaceId}
        and code_hash = ${codeHash}
      for update`
    if (code === undefined) throw invalidGrant()
    if (code.used_at !== null && code.key_id !== null) {
      return endGrant(deps, tx, keyring, workspaceId, code.key_id, now)
    }
    const isRight =
      code.expires_at > now &&
      code.client_id === client.id &&
      code.redirect_uri === form.redirect_uri &&
      isVerifier(form.code_verifier, code.code_challenge)
    if (!isRight) throw invalidGrant()
    const key =
      code.key_id === null
        ? await createKey(tx, workspaceId, code, now)
        : await reconnectKey(tx, workspaceId, code.key_id, client, now)
    await tx`
      update oauth_codes
      set key_id = ${key.id},
        used_at = ${now}
      where workspace_id = ${workspaceId}
        and code_hash = ${codeHash}`
    return issue(tx, key, `plr_${createToken()}`, now)
  })
}

async function createKey(tx: Tx, workspaceId: string, code: CodeRow, now: Date): Promise<ApiKeyRow> {
  const input: NewKeyInput = {
    ...code.settings,
    workspaceId,
    createdBy: code.created_by,
    expiresAt: new Date(now.getTime() + refreshMs),
    oauth: { clientId: code.client_id, redirectHost: redirectHost(code.redirect_uri) },
  }
  const { key } = await createApiKey(tx, input, now)
  const actor = { type: code.actor_type, id: code.actor_id }
  await recordAudit(tx, workspaceEntry({ workspaceId, actor }, 'api-key.created', `api-key:${key.id}`), now)
  return key
}

/** Gives a key to the same client again: it keeps its conversations and limits, and its former tokens end. */
async function reconnectKey(
  tx: Tx,
  workspaceId: string,
  keyId: string,
  client: OAuthClient,
  now: Date,
): Promise<ApiKeyRow> {
  const key = await lockApiKey(tx, workspaceId, keyId)
  if (key === null || key.oauthClient !== client.id || statusAt(key, now) !== 'active') throw invalidGrant()
  await tx`delete from oauth_tokens where workspace_id = ${workspaceId} and key_id = ${keyId}`
  return extend(tx, key, now)
}

function isVerifier(verifier: string | undefined, challenge: string): boolean {
  if (verifier === undefined || !/^[\w.~-]{43,128}$/.test(verifier)) return false
  return isSameSecret(hash('sha256', verifier, 'base64url'), challenge)
}

/**
 * Exchanges a refresh token for the next one, which is derived from it: a client that lost the answer gets the same one
 * again. If a spent token comes later, or after its successor was used, one of two holders is a thief: the grant ends.
 */
async function refresh(deps: TokenDeps, form: TokenForm): Promise<TokenAnswer | Ended> {
  const token = form.refresh_token ?? ''
  const workspaceId = await findWorkspace(deps.db.sql, 'oauth_tokens', hashToken(token))
  const client = await deps.authenticate(form)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const instanceKeys = await deps.keyStore.keyring(instanceScope)
  const next = `plr_${instanceKeys.stable('oauth-refresh', token).toString('base64url')}`
  const now = deps.clock.now()
  return deps.db.tx(async (tx) => {
    const place = await findToken(tx, workspaceId, token)
    const key = place === undefined ? null : await lockApiKey(tx, workspaceId, place.key_id)
    if (key === null || key.oauthClient !== client.id || statusAt(key, now) !== 'active') throw invalidGrant()
    // Read again under the lock of the key: of two requests at once, one sees what the other did.
    const spent = await findToken(tx, workspaceId, token)
    if (spent?.kind !== 'refresh' || spent.expires_at <= now) throw invalidGrant()
    if (spent.used_at === null) {
      await spend(tx, workspaceId, token, now)
      return issue(tx, await extend(tx, key, now), next, now)
    }
    const isLate = now.getTime() - spent.used_at.getTime() > repeatMs
    const successor = isLate ? undefined : await findToken(tx, workspaceId, next)
    if (successor === undefined || successor.used_at !== null) {
      return endGrant(deps, tx, keyring, workspaceId, key.id, now)
    }
    return issue(tx, key, next, now)
  })
}

interface TokenRow {
  key_id: string
  kind: 'access' | 'refresh'
  used_at: Date | null
  expires_at: Date
}

async function findToken(sql: Sql, workspaceId: string, token: string): Promise<TokenRow | undefined> {
  const [row] = await sql<TokenRow[]>`
    select key_id, kind, used_at, expires_at
    from oauth_tokens
    where workspace_id = ${workspaceId}
      and token_hash = ${hashToken(token)}`
  return row
}

async function findWorkspace(sql: Sql, table: 'oauth_codes' | 'oauth_tokens', hashed: Buffer): Promise<string> {
  const [row] = await sql<{ workspace_id: string }[]>`
    select workspace_id
    from ${sql(table)}
    where ${sql(table === 'oauth_codes' ? 'code_hash' : 'token_hash')} = ${hashed}`
  if (row === undefined) throw invalidGrant()
  return row.workspace_id
}

async function spend(tx: Tx, workspaceId: string, token: string, now: Date): Promise<void> {
  await tx`
    update oauth_tokens
    set used_at = ${now},
      expires_at = least(expires_at, ${new Date(now.getTime() + spentMs)})
    where workspace_id = ${workspaceId}
      and token_hash = ${hashToken(token)}`
}

async function extend(tx: Tx, key: ApiKeyRow, now: Date): Promise<ApiKeyRow> {
  const expiresAt = new Date(now.getTime() + refreshMs)
  await notifyKeyChanged(tx, key.id)
  return updateApiKey(tx, key.workspaceId, key.id, tx`expires_at = ${expiresAt}`)
}

/** Stores a new access token and the refresh token, unless it is stored. Keeps the newest access tokens of the key. */
async function issue(tx: Tx, key: ApiKeyRow, refreshToken: string, now: Date): Promise<TokenAnswer> {
  const { workspaceId, id: keyId } = key
  const accessToken = makeAccessToken()
  const accessEnds = new Date(now.getTime() + accessSeconds * 1000)
  await tx`
    insert into oauth_tokens (workspace_id, token_hash, key_id, kind, created_at, expires_at)
    values
      (${workspaceId}, ${hashToken(accessToken)}, ${keyId}, 'access', ${now}, ${accessEnds}),
      (${workspaceId}, ${hashToken(refreshToken)}, ${keyId}, 'refresh', ${now}, ${key.expiresAt})
    on conflict do nothing`
  await tx`
    delete from oauth_tokens
    where workspace_id = ${workspaceId}
      and key_id = ${keyId}
      and kind = 'access'
      and token_hash not in (
        select token_hash
        from oauth_tokens
        where workspace_id = ${workspaceId}
          and key_id = ${keyId}
          and kind = 'access'
        order by created_at desc, token_hash = ${hashToken(accessToken)} desc
        limit ${maxAccessTokens}
      )`
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: accessSeconds,
    refresh_token: refreshToken,
    scope: key.scopes.join(' '),
  }
}

type Keyring = Awaited<ReturnType<KeyDeps['keyStore']['keyring']>>

/** Revokes the key of a grant, and with it all of its tokens on all nodes. */
async function endGrant(
  deps: TokenDeps,
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  keyId: string,
  now: Date,
): Promise<Ended> {
  await endKey(tx, deps, keyring, { workspaceId, actor: systemActor }, keyId, now)
  return { endedKeyId: keyId }
}

/** Ends what a token stands for (RFC 7009): a refresh token the whole grant. Unknown tokens are already ended. */
export async function revokeToken(deps: TokenDeps, form: TokenForm): Promise<void> {
  const token = form.token ?? ''
  const workspaceId = await findWorkspace(deps.db.sql, 'oauth_tokens', hashToken(token)).catch(ignoreUnknown)
  if (workspaceId === null) return
  const client = await deps.authenticate(form)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const now = deps.clock.now()
  const keyId = await deps.db.tx(async (tx) => {
    const row = await findToken(tx, workspaceId, token)
    const key = row === undefined ? null : await lockApiKey(tx, workspaceId, row.key_id)
    if (row === undefined || key?.oauthClient !== client.id) return null
    if (row.kind === 'refresh') await endGrant(deps, tx, keyring, workspaceId, key.id, now)
    else {
      await tx`delete from oauth_tokens where workspace_id = ${workspaceId} and token_hash = ${hashToken(token)}`
      await notifyKeyChanged(tx, key.id)
    }
    return key.id
  })
  if (keyId !== null) deps.forgetKey(keyId)
}

function ignoreUnknown(error: unknown): null {
  if (error instanceof OAuthError) return null
  throw error
}
