import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { fillRandom } from '../id.ts'

/** Where a sealed value lives. It opens nowhere else. `row` is the id of the row, `column` the column or group. */
export interface EncryptionContext {
  table: string
  row: string
  column: string
}

export interface DataKey {
  version: number
  key: KeyObject
  /** What every value under this key is bound to, apart from its place. */
  context: string
}

/** A sealed value that was altered, cut, moved, or sealed under a key we do not have. */
export class DecryptionError extends Error {
  constructor(place: EncryptionContext, cause?: unknown) {
    super(`A sealed value of ${place.table}.${place.column} does not open`, { cause })
  }
}

/** The key version of the value is not among the loaded ones: it may have been added since. */
export class UnknownKeyVersion extends DecryptionError {}

// Layout: format byte, key version (4 bytes), nonce (12), ciphertext of the padded value, tag (16).
const format = 1
const nonceStart = 5
const cipherStart = 17
const tagBytes = 16
// Names and numbers of nearly the same length must not be told apart by the length of what is stored.
const padBytes = 32
const padMark = 0x80

/** The bytes that are authenticated besides the value: `contextOf` once per key, then the place. */
export function contextOf(scopeId: string, version: number): string {
  return prefixed(String(format)) + prefixed(scopeId) + prefixed(String(version))
}

export function encryptValue(dataKey: DataKey, place: EncryptionContext, plain: string | Uint8Array): Buffer {
  const padded = pad(plain)
  const sealed = Buffer.allocUnsafe(cipherStart + padded.length + tagBytes)
  sealed[0] = format
  sealed.writeUInt32BE(dataKey.version, 1)
  const nonce = sealed.subarray(nonceStart, cipherStart)
  fillRandom(nonce)
  const cipher = createCipheriv('aes-256-gcm', dataKey.key, nonce)
  cipher.setAAD(boundTo(dataKey, place))
  sealed.set(cipher.update(padded), cipherStart)
  cipher.final()
  sealed.set(cipher.getAuthTag(), cipherStart + padded.length)
  return sealed
}

/** Throws DecryptionError unless the value was sealed by this key for this place. */
export function decryptValue(dataKey: DataKey, place: EncryptionContext, sealed: Uint8Array): Buffer {
  try {
    const nonce = sealed.subarray(nonceStart, cipherStart)
    const decipher = createDecipheriv('aes-256-gcm', dataKey.key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(boundTo(dataKey, place))
    decipher.setAuthTag(sealed.subarray(-tagBytes))
    const padded = decipher.update(sealed.subarray(cipherStart, -tagBytes))
    decipher.final()
    return unpad(padded)
  } catch (cause) {
    throw new DecryptionError(place, cause)
  }
}

/** The key version that a sealed value names; throws DecryptionError when it is not a sealed value at all. */
export function versionOf(place: EncryptionContext, sealed: Uint8Array): number {
  const [first, a = 0, b = 0, c = 0, d = 0] = sealed
  if (first !== format || sealed.length < cipherStart + padBytes + tagBytes) throw new DecryptionError(place)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}

function boundTo(dataKey: DataKey, place: EncryptionContext): Buffer {
  return Buffer.from(dataKey.context + prefixed(place.table) + prefixed(place.row) + prefixed(place.column))
}

function prefixed(text: string): string {
  return `${text.length}:${text}`
}

function pad(plain: string | Uint8Array): Buffer {
  const length = typeof plain === 'string' ? Buffer.byteLength(plain) : plain.length
  // From the supply of small buffers: one of its own costs more than what is put into it.
  const padded = Buffer.allocUnsafe(Math.ceil((length + 1) / padBytes) * padBytes)
  if (typeof plain === 'string') padded.write(plain)
  else padded.set(plain)
  padded[length] = padMark
  return padded.fill(0, length + 1)
}

function unpad(padded: Buffer): Buffer {
  return padded.subarray(0, padded.lastIndexOf(padMark))
}

/**
 * Null for what does not open: no others are to wait for it. What a newer key may open is no such value: that is thrown, and
 * `withKeyring` loads the keys anew.
 */
export function decryptOrNull<T>(open: () => T): T | null {
  try {
    return open()
  } catch (error) {
    if (error instanceof DecryptionError && !(error instanceof UnknownKeyVersion)) return null
    throw error
  }
}
