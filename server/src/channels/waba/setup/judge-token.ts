import { type CheckLine, checkLine } from '../../check/report.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { type GraphAnswer, judgeFailure } from './graph-answer.ts'

/** What the platform says about an access token. */
export interface TokenFacts {
  appId: string | null
  appName: string
  /** Null: not reported. */
  scopes: readonly string[] | null
  /** Accounts that the token is limited to; empty if it is not, or if the platform does not say. */
  accountIds: readonly string[]
}

export const neededScopes = ['whatsapp_business_messaging', 'whatsapp_business_management'] as const
const maxAccounts = 20
const dayMs = 24 * 3_600_000
const unknownToken: TokenFacts = { appId: null, appName: '', scopes: null, accountIds: [] }

export function parseToken(debug: GraphAnswer): TokenFacts {
  if (!debug.ok) return unknownToken
  const data = objectOf(debug.body.data)
  const granular = listOf(data.granular_scopes).map(objectOf)
  const accounts = granular
    .filter(({ scope }) => neededScopes.some((needed) => needed === scope))
    .flatMap(({ target_ids }) => listOf(target_ids))
    .flatMap((id) => tokenOf(id) ?? [])
  return {
    appId: tokenOf(data.app_id),
    appName: textOf(data.application) ?? '',
    scopes: Array.isArray(data.scopes) ? data.scopes.flatMap((scope) => textOf(scope) ?? []) : null,
    accountIds: [...new Set(accounts)].slice(0, maxAccounts),
  }
}

/** Subcodes of 190 about a token that was valid once. */
const expiredSubcode = 463

/** Judges the token by the answer to `debug_token`. A token may be valid and yet not be allowed to ask that. */
export function judgeToken(debug: GraphAnswer, now: Date): CheckLine {
  if (!debug.ok) return judgeRefusedToken(debug)
  const data = objectOf(debug.body.data)
  const expiresAt = timeOf(data.expires_at)
  if (data.is_valid === false) {
    const { subcode } = objectOf(data.error)
    const isOver = subcode === expiredSubcode || (expiresAt !== null && expiresAt <= now)
    return checkLine('token', isOver ? 'token_expired' : 'token_invalid')
  }
  const app = textOf(data.application) ?? tokenOf(data.app_id) ?? '?'
  if (expiresAt === null) {
    return data.expires_at === 0 ? checkLine('token', 'token_permanent', { app }) : checkLine('token', 'token_valid')
  }
  if (expiresAt <= now) return checkLine('token', 'token_expired')
  const until = expiresAt.toISOString()
  return isTemporary(data, expiresAt, now)
    ? checkLine('token', 'token_temporary', { until })
    : checkLine('token', 'token_expires', { until, app })
}

function judgeRefusedToken(debug: Extract<GraphAnswer, { ok: false }>): CheckLine {
  if (debug.errorCode === '190' || debug.errorCode === '0') {
    return checkLine('token', debug.subcode === expiredSubcode ? 'token_expired' : 'token_invalid')
  }
  // The platform understood the token and only refuses to describe it.
  if (isRefusedRead(debug.errorCode)) return checkLine('token', 'token_valid')
  return judgeFailure('token', debug)
}

const isRefusedRead = (code: string): boolean => /^(?:3|10|100|2\d\d)$/.test(code)

/** A token that the platform's console creates for trying things out: of a person, for at most a day. */
function isTemporary({ type, issued_at }: JsonObject, expiresAt: Date, now: Date): boolean {
  const isOfPerson = textOf(type)?.toUpperCase() === 'USER'
  const startsAt = timeOf(issued_at) ?? now
  return isOfPerson && expiresAt.getTime() - startsAt.getTime() <= dayMs
}

// Zero: never, or not reported.
const timeOf = (seconds: unknown): Date | null =>
  Number.isSafeInteger(seconds) && Number(seconds) > 0 && Number(seconds) < 1e11
    ? new Date(Number(seconds) * 1000)
    : null

/** Judges the permissions: those of `debug_token`, otherwise those of `me/permissions`. */
export function judgePermissions({ scopes }: TokenFacts, permissions: GraphAnswer | null): CheckLine {
  const granted = scopes ?? grantedIn(permissions)
  if (granted === null) {
    return permissions === null || permissions.ok
      ? checkLine('permissions', 'not_checked')
      : judgeFailure('permissions', permissions)
  }
  const missing = neededScopes.filter((needed) => !granted.includes(needed))
  return missing.length === 0
    ? checkLine('permissions', 'permissions_granted')
    : checkLine('permissions', 'permission_missing', { permissions: missing.join(', ') })
}

function grantedIn(permissions: GraphAnswer | null): string[] | null {
  if (permissions === null || !permissions.ok || !Array.isArray(permissions.body.data)) return null
  return permissions.body.data
    .map(objectOf)
    .flatMap(({ permission, status }) => (status === 'granted' ? (textOf(permission) ?? []) : []))
}

/** Judges the app secret by a call with a proof made of it, which the platform refuses with 100 if it is wrong. */
export function judgeAppSecret(proof: GraphAnswer): CheckLine {
  if (proof.ok) return checkLine('app_secret', 'app_secret_matches')
  return checkLine('app_secret', proof.errorCode === '100' ? 'app_secret_wrong' : 'not_checked')
}
