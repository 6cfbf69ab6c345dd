import { hash } from 'node:crypto'
import { checksum62, randomBase62 } from '../../base/sealing/secret-token.ts'

// `plk_<22 random>_<6 checksum>`, both base62: the prefix is found by secret scanners, the checksum turns a typo
// down without a database read, and an underscore lets a double click select the whole.
const prefix = 'plk_'
const randomLength = 22
const checksumLength = 6
const shape = /^plk_[0-9A-Za-z]{22}_[0-9A-Za-z]{6}$/

/** A new key value of about 131 random bits. */
export function makeKeyValue(): string {
  const body = prefix + randomBase62(randomLength)
  return `${body}_${checksum62(body)}`
}

/** Whether the text has the form of a key and its checksum fits. */
export function isKeyValue(text: string): boolean {
  return shape.test(text) && text.slice(-checksumLength) === checksum62(text.slice(0, prefix.length + randomLength))
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
