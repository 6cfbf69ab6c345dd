import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { documentRequest, type OAuthClient } from './clients.ts'
import { OAuthError } from './oauth-error.ts'

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
export const assertionAlgorithms = ['RS256', 'ES256'] as const
const keyTypes: Record<string, string> = { RS256: 'RSA', ES256: 'EC' }
const longestSeconds = 3600
const skewSeconds = 60

/** A public key of a client (RFC 7517). */
type JsonWebKey = Partial<Record<'kty' | 'kid' | 'use' | 'n' | 'e' | 'crv' | 'x' | 'y', unknown>>

interface AssertionDeps {
  outgoing: Pick<Outgoing, 'call'>
  /** Values that an assertion may name as its audience: the issuer and the token endpoint. */
  audiences: readonly string[]
}

/**
 * Checks the signed assertion of a client (RFC 7523). Throws `invalid_client`. Its `jti` is not stored: what comes with
 * it, a code or refresh token, works only once itself.
 */
export async function checkAssertion(
  { outgoing, audiences }: AssertionDeps,
  client: OAuthClient & { jwksUri: string },
  assertion: string,
  now: Date,
): Promise<void> {
  const { iss, sub, aud, exp, nbf } = await readSigned(outgoing, client.jwksUri, assertion)
  const seconds = now.getTime() / 1000
  const isInTime =
    typeof exp === 'number' &&
    exp > seconds - skewSeconds &&
    exp < seconds + longestSeconds &&
    (nbf === undefined || (typeof nbf === 'number' && nbf <= seconds + skewSeconds))
  const isForUs = [aud].flat().some((audience) => audiences.some((own) => own === audience))
  if (iss !== client.id || sub !== client.id || !isInTime || !isForUs) throw refused()
}

/** Returns the claims of a token that one of the keys at this address signed, by RS256 or ES256. Throws `invalid_client`. */
export async function readSigned(
  outgoing: Pick<Outgoing, 'call'>,
  jwksUri: string,
  token: string,
): Promise<Record<string, unknown>> {
  const [head = '', body = '', signature = '', ...more] = token.split('.')
  const { alg, kid, crit } = readPart(head)
  const isKnown = assertionAlgorithms.some((known) => known === alg)
  if (!isKnown || typeof alg !== 'string' || crit !== undefined || more.length > 0) throw refused()
  const key = publicKeyOf(await readKeys(outgoing, jwksUri), alg, kid)
  const signed = Buffer.from(`${head}.${body}`)
  const isSigned = verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
  if (!isSigned) throw refused()
  return readPart(body)
}

const refused = () => new OAuthError('invalid_client', 'The client_assertion is not valid for this client')

function readPart(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw refused()
}

async function readKeys(outgoing: Pick<Outgoing, 'call'>, url: string): Promise<JsonWebKey[]> {
  const answer = await outgoing.call({ ...documentRequest, url, maxAnswerBytes: 65_536 })
  if (answer.outcome === 'failed' || answer.status !== 200 || !answer.isWhole) {
    throw new OAuthError('temporarily_unavailable', 'The keys of the client cannot be read. Try again later', 503)
  }
  try {
    const { keys } = JSON.parse(answer.body.toString('utf8'))
    if (Array.isArray(keys)) return keys
  } catch {}
  throw refused()
}

/** Returns the only key that fits, by the algorithm that we allow: what the assertion says decides nothing else. */
function publicKeyOf(keys: readonly JsonWebKey[], alg: string, kid: unknown): KeyObject {
  const fitting = keys.filter(
    (key) => key?.kty === keyTypes[alg] && (kid === undefined || key.kid === kid) && (key.use ?? 'sig') === 'sig',
  )
  const [jwk] = fitting
  if (jwk === undefined || fitting.length > 1) throw refused()
  const { kty, n, e, crv, x, y } = jwk
  if (kty === 'EC' && crv !== 'P-256') throw refused()
  try {
    const key = createPublicKey({ key: kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y }, format: 'jwk' } as never)
    const bits = key.asymmetricKeyDetails?.modulusLength
    if (bits === undefined || (bits >= 2048 && bits <= 8192)) return key
  } catch {}
  throw refused()
}
