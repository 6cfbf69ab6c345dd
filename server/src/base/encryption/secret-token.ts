import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns 256 random bits as 43 characters that are safe in URLs and cookies. */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the stored hash of a token. Tokens are long and random, so they need no slow hash. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Compares in constant time, independent of content and length. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hashToken(a), hashToken(b))
}

export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: accepting more would favor the first digits.
      if (byte < 248 && text.length < length) text += digits.charAt(byte % 62)
    }
  }
  return text
}

/** Returns the CRC-32 as six base62 digits: rejects a typo without a database query. */
export function checksum62(text: string): string {
  let rest = crc32(text)
  let sum = ''
  for (let place = 0; place < 6; place++) {
    sum = digits.charAt(rest % 62) + sum
    rest = Math.floor(rest / 62)
  }
  return sum
}
