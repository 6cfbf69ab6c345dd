import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

export interface SigningSecret {
  /** `whsec_` and base64 of 32 bytes. */
  value: string
  /** The end of the overlap, as ISO text; null for the one that stays. */
  expiresAt: string | null
}

/** Each one adds a signature to every request. */
const maxOldSecrets = 4

export function createSecret(): SigningSecret {
  return { value: `${prefix}${randomBytes(32).toString('base64')}`, expiresAt: null }
}

/** The secrets that sign at this moment, the newest first. */
export function validSecrets(secrets: readonly SigningSecret[], now: Date): SigningSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || new Date(expiresAt) > now)
}

/** A new secret in front of those that still sign until the overlap has passed. None of them lasts longer than before. */
export function rotateSecrets(secrets: readonly SigningSecret[], overlapMs: number, now: Date): SigningSecret[] {
  const end = new Date(now.getTime() + overlapMs).toISOString()
  const old = validSecrets(secrets, now).map(({ value, expiresAt }) => ({
    value,
    expiresAt: expiresAt === null || expiresAt > end ? end : expiresAt,
  }))
  return [createSecret(), ...validSecrets(old, now).slice(0, maxOldSecrets)]
}

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret that is valid. */
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

const keys = new WeakMap<SigningSecret, KeyObject>()

function keyOf(secret: SigningSecret): KeyObject {
  const cachedKey = keys.get(secret)
  if (cachedKey !== undefined) return cachedKey
  const key = createSecretKey(Buffer.from(secret.value.slice(prefix.length), 'base64'))
  keys.set(secret, key)
  return key
}
