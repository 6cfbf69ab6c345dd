import { createHmac, timingSafeEqual } from 'node:crypto'

const shape = /^sha256=([0-9a-f]{64})$/

/** The digest that an `X-Hub-Signature-256` header carries; null when it is missing or malformed. */
export function readSignature(header: unknown): Buffer | null {
  const hex = typeof header === 'string' ? shape.exec(header)?.[1] : undefined
  return hex === undefined ? null : Buffer.from(hex, 'hex')
}

/** Whether this app secret signed these very bytes. A body that was parsed and written again has another signature. */
export function isSignedBy(appSecret: string, body: Uint8Array, signature: Buffer): boolean {
  if (appSecret === '') return false
  const expected = createHmac('sha256', appSecret).update(body).digest()
  return expected.length === signature.length && timingSafeEqual(expected, signature)
}
