import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

export interface SigningSecret {
  /** `whsec_` and the base64 of 32 bytes. */
  value: string
  /** End of the overlap in ISO format; null for the current secret. */
  expiresAt: string | null
}

/** Each old secret adds a signature to every request. */
const maxOldSecrets = 4

export function createSecret(): SigningSecret {
  return { value: `${prefix}${randomBytes(32).toString('base64')}`, expiresAt: null }
}

/** Returns the secrets that sign now, newest first. */
export function validSecrets(secrets: readonly SigningSecret[], now: Date): SigningSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || new Date(expiresAt) > now)
}

/** Adds a new secret; old ones sign until the end of the overlap, or their earlier end. */
export function rotateSecrets(secrets: readonly SigningSecret[], overlapMs: number, now: Date): SigningSecret[] {
  const end = new Date(now.getTime() + overlapMs).toISOString()
  const old = validSecrets(secrets, now).map(({ value, expiresAt }) => ({
    value,
    expiresAt: expiresAt === null || expiresAt > end ? end : expiresAt,
  }))
  return [createSecret(), ...validSecrets(old, now).slice(0, maxOldSecrets)]
}

/** Returns the `webhook-signature` header of Standard Webhooks: a signature for each valid secret. */
export function signatures(
  secrets: readonly SigningSecret[],
  message: { id: string; timestamp: number; body: string },
  now: Date,
): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`
  return validSecrets(secrets, now)
    .map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`)
    .join(' ')
}

const keyCache = new WeakMap<SigningSecret, KeyObject>()

function keyOf(secret: SigningSecret): KeyObject {
  const cachedKey = keyCache.get(secret)
  if (cachedKey !== undefined) return cachedKey
  const key = createSecretKey(Buffer.from(secret.value.slice(prefix.length), 'base64'))
  keyCache.set(secret, key)
  return key
}
