import { randomBytes } from 'node:crypto'

export interface SigningSecret {
  /** `whsec_` and base64 of 32 bytes. */
  value: string
  /** The end of the overlap, as ISO text; null for the one that stays. */
  expiresAt: string | null
}

/** Each one adds a signature to every request. */
const maxOldSecrets = 4

export function makeSecret(): SigningSecret {
  return { value: `whsec_${randomBytes(32).toString('base64')}`, expiresAt: null }
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
  return [makeSecret(), ...validSecrets(old, now).slice(0, maxOldSecrets)]
}
