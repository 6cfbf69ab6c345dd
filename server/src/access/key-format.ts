import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

// `plk_<22 random>_<6 checksum>`, both base62: the prefix is found by secret scanners, the checksum turns a typo
// down without a database read, and an underscore lets a double click select the whole.
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'plk_'
const randomLength = 22
const checksumLength = 6
const shape = /^plk_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$/

/** A new key value of about 131 random bits. */
export function makeKeyValue(): string {
  const body = prefix + randomBase62(randomLength)
  return `${body}_${checksumOf(body)}`
}

/** Whether the text has the form of a key and its checksum fits. */
export function isKeyValue(text: string): boolean {
  return shape.test(text) && text.slice(-checksumLength) === checksumOf(text.slice(0, prefix.length + randomLength))
}

/** SHA-256 as lower-case hex: the value is long and random, so a slow hash would only slow us down. */
export function hashKeyValue(value: string): string {
  return hash('sha256', value, 'hex')
}

export function lastFourOf(value: string): string {
  return value.slice(-4)
}

/** How a key is shown after its creation: `plk_…abcd`. */
export function shownKey(lastFour: string): string {
  return `${prefix}…${lastFour}`
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let out = ''
  for (let place = 0; place < checksumLength; place++) {
    out = digits.charAt(rest % 62) + out
    rest = Math.floor(rest / 62)
  }
  return out
}

function randomBase62(length: number): string {
  let out = ''
  while (out.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: taking more would favour the first digits.
      if (byte < 248 && out.length < length) out += digits.charAt(byte % 62)
    }
  }
  return out
}
