import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import type { SourceSettings } from './source.ts'

/** How far the sender's clock may be away. An id is remembered for longer, so that no request works twice. */
export const maxAgeSeconds = 300
const maxIdLength = 255

/** Returns who sent a request; otherwise what is wrong. Compares in constant time. */
export function verifyProof(
  { proof, secret }: Pick<SourceSettings, 'proof' | 'secret'>,
  request: { headers: IncomingHttpHeaders; token: string; body: Buffer },
  now: Date,
): { id: string | null } | { problem: string } {
  if (proof === 'url') {
    return isSameSecret(request.token, secret) ? { id: null } : { problem: 'The token in the URL is missing or wrong' }
  }
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = request.headers
  if (typeof id !== 'string' || id === '' || id.length > maxIdLength)
    return { problem: `webhook-id must have 1 to ${maxIdLength} characters` }
  if (typeof time !== 'string' || !/^\d{1,12}$/.test(time))
    return { problem: 'webhook-timestamp must be the time in seconds since 1970' }
  if (Math.abs(now.getTime() / 1000 - Number(time)) > maxAgeSeconds)
    return { problem: `webhook-timestamp must be within ${maxAgeSeconds} s of now` }
  const isSigned = typeof signature === 'string' && isSignedBy(secret, `${id}.${time}.`, request.body, signature)
  return isSigned ? { id } : { problem: 'webhook-signature does not match the secret and the exact bytes of the body' }
}

const maxSignatures = 5

/** The header may have several signatures: the sender may be changing its secret. */
function isSignedBy(secret: string, prefix: string, body: Buffer, header: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(prefix).update(body).digest()
  const given = header.slice(0, 1000).split(' ').slice(0, maxSignatures)
  return given.some((one) => {
    const bytes = one.startsWith('v1,') ? Buffer.from(one.slice(3), 'base64') : null
    return bytes !== null && bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}
