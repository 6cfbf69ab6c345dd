import { type ApiError, unauthorized } from '../../base/errors.ts'
import type { Scope } from './scopes.ts'

/** `unknown` is every credential that is no key of ours: none, malformed, mistyped or never issued. */
export type Rejection = 'unknown' | 'revoked' | 'expired' | 'address' | { lacks: readonly Scope[] }

const messages = {
  unknown: 'API key missing or not valid',
  revoked: 'API key revoked',
  expired: 'API key expired',
  address: 'API key not allowed from this address',
} as const

/** The one way in which a key is turned down: 401, with a message that names the reason and nothing else. */
export function rejectKey(reason: Rejection): ApiError {
  return unauthorized(
    typeof reason === 'string' ? messages[reason] : `API key lacks scope ${reason.lacks.join(' or ')}`,
  )
}
