import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { type SigningSecret, validSecrets } from './secrets.ts'

const prefix = 'whsec_'
const keys = new WeakMap<SigningSecret, KeyObject>()

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

function keyOf(secret: SigningSecret): KeyObject {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const key = createSecretKey(Buffer.from(secret.value.slice(prefix.length), 'base64'))
  keys.set(secret, key)
  return key
}
