import { createHmac, timingSafeEqual } from 'node:crypto'
import { type ApiError, unauthorized } from '../../base/errors.ts'
import { parsePhone } from '../../base/phone/phone.ts'
import { limitText } from '../untrusted-values.ts'
import { objectOf, parseJson } from '../waba/json.ts'

/** What is known of a visitor. With a user id the site vouches for all of it; otherwise the visitor has typed it. */
export interface VisitorProfile {
  /** The site's own id of the person; null: anonymous. */
  userId: string | null
  name: string | null
  email: string | null
  /** Digits with country code. */
  phone: string | null
}

export const maxIdentityLength = 4096
const [maxUserIdLength, maxNameLength, maxEmailLength] = [255, 100, 255]
/** Tolerated difference between the clocks. */
const skewMs = 60_000
/** A token that someone copies must not work for long. */
const maxLifetimeMs = 24 * 3_600_000

const refused = (why: string): ApiError => unauthorized(`The identity of the visitor is not valid: ${why}`)

/**
 * Returns the identity in a token that the site's server has signed: a JWT with HS256 and one of the secrets, with
 * `sub`, `exp` and optionally `name`, `email` and `phone`. Throws 401 with the reason for any other token.
 */
export function verifyIdentity(token: string, secrets: readonly string[], now: Date): VisitorProfile {
  if (secrets.length === 0) throw refused('this connection has no identity secret')
  const [head = '', body = '', signature = '', extra] = token.slice(0, maxIdentityLength + 1).split('.')
  if (token.length > maxIdentityLength || extra !== undefined || signature === '') throw refused('it is not a JWT')
  // Only this algorithm, whatever the token says: `none` and public keys would let anybody sign.
  if (objectOf(parseJson(decode(head))).alg !== 'HS256') throw refused('it must be signed with HS256')
  if (!secrets.some((secret) => isSigned(`${head}.${body}`, signature, secret))) throw refused('wrong signature')
  return readClaims(objectOf(parseJson(decode(body))), now)
}

const decode = (part: string): string => Buffer.from(part, 'base64url').toString('utf8')

function isSigned(text: string, signature: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(text).digest()
  const given = Buffer.from(signature, 'base64url')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function readClaims(claims: Record<string, unknown>, now: Date): VisitorProfile {
  const { sub, exp, nbf } = claims
  const userId = typeof sub === 'number' ? String(sub) : limitText(sub, maxUserIdLength + 1)
  if (userId === null || userId.length > maxUserIdLength) throw refused('`sub` must be the id of the user')
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw refused('`exp` must be a time in seconds')
  if (exp * 1000 <= now.getTime() - skewMs) throw refused('it has expired')
  if (exp * 1000 > now.getTime() + maxLifetimeMs + skewMs) throw refused('`exp` must be within 24 hours')
  if (typeof nbf === 'number' && nbf * 1000 > now.getTime() + skewMs) throw refused('it is not valid yet')
  return { userId, ...cleanDetails(claims) }
}

const emailShape = /^[^\s@]{1,64}@[^\s@]{1,190}$/

/** Returns name, e-mail and phone as far as they can be ones. Nobody is refused because of them. */
export function cleanDetails(given: Record<string, unknown>): Omit<VisitorProfile, 'userId'> {
  const email = limitText(given.email, maxEmailLength)
  const phone = limitText(given.phone, 64)
  return {
    name:
      limitText(given.name, maxNameLength)
        ?.replaceAll(/[\p{Cc}\s]+/gu, ' ')
        .trim() || null,
    email: email !== null && emailShape.test(email) ? email : null,
    phone: phone === null ? null : parsePhone(phone),
  }
}
