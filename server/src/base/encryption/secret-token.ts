import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 256 random bits as 43 characters that fit a link and a cookie. */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}

/** What is stored of a token. It is long and random, so a slow hash would only slow us down. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** Compares in a time that tells nothing of where two texts differ, nor of their lengths. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hashToken(a), hashToken(b))
}

export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: taking more would favour the first digits.
      if (byte < 248 && text.length < length) text += digits.charAt(byte % 62)
    }
  }
  return text
}

/** CRC-32 as six base62 digits: turns a typo down without a database read. */
export function checksum62(text: string): string {
  let rest = crc32(text)
  let sum = ''
  for (let place = 0; place < 6; place++) {
    sum = digits.charAt(rest % 62) + sum
    rest = Math.floor(rest / 62)
  }
  return sum
}
