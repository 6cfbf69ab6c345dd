import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { fillRandom } from '../id.ts'

/** The only place where an encrypted value decrypts: table, id of the row, and column or column group. */
export interface EncryptionContext {
  table: string
  row: string
  column: string
}

export interface DataKey {
  version: number
  key: KeyObject
  /** Authenticated with every value under this key, besides its own location. */
  context: string
}

/** An encrypted value was altered, truncated or moved, or its key is unknown. */
export class DecryptionError extends Error {
  constructor(location: EncryptionContext, cause?: unknown) {
    super(`Cannot decrypt a value of ${location.table}.${location.column}`, { cause })
  }
}

/** The key version of the value is not loaded; it may be newer. */
export class UnknownKeyVersion extends DecryptionError {}

// Layout: format byte, key version (4 bytes), nonce (12), ciphertext of the padded value, tag (16).
const format = 1
const nonceStart = 5
const cipherStart = 17
const tagBytes = 16
// Hides small differences in length, such as between names.
const padBytes = 32
const padMark = 0x80

/** Returns the authenticated data of a key: format, scope and version. The location of each value follows. */
export function contextOf(scopeId: string, version: number): string {
  return prefixed(String(format)) + prefixed(scopeId) + prefixed(String(version))
}

export function encryptValue(dataKey: DataKey, location: EncryptionContext, plain: string | Uint8Array): Buffer {
  const padded = pad(plain)
  const ciphertext = Buffer.allocUnsafe(cipherStart + padded.length + tagBytes)
  ciphertext[0] = format
  ciphertext.writeUInt32BE(dataKey.version, 1)
  const nonce = ciphertext.subarray(nonceStart, cipherStart)
  fillRandom(nonce)
  const cipher = createCipheriv('aes-256-gcm', dataKey.key, nonce)
  cipher.setAAD(authenticatedData(dataKey, location))
  ciphertext.set(cipher.update(padded), cipherStart)
  cipher.final()
  ciphertext.set(cipher.getAuthTag(), cipherStart + padded.length)
  return ciphertext
}

/** Throws DecryptionError unless the value was encrypted with this key for this location. */
export function decryptValue(dataKey: DataKey, location: EncryptionContext, ciphertext: Uint8Array): Buffer {
  try {
    const nonce = ciphertext.subarray(nonceStart, cipherStart)
    const decipher = createDecipheriv('aes-256-gcm', dataKey.key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(authenticatedData(dataKey, location))
    decipher.setAuthTag(ciphertext.subarray(-tagBytes))
    const padded = decipher.update(ciphertext.subarray(cipherStart, -tagBytes))
    decipher.final()
    return unpad(padded)
  } catch (cause) {
    throw new DecryptionError(location, cause)
  }
}

/** Returns the key version of an encrypted value. Throws DecryptionError if the format is unknown. */
export function versionOf(location: EncryptionContext, ciphertext: Uint8Array): number {
  const [first, a = 0, b = 0, c = 0, d = 0] = ciphertext
  if (first !== format || ciphertext.length < cipherStart + padBytes + tagBytes) throw new DecryptionError(location)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}

function authenticatedData(dataKey: DataKey, location: EncryptionContext): Buffer {
  return Buffer.from(dataKey.context + prefixed(location.table) + prefixed(location.row) + prefixed(location.column))
}

function prefixed(text: string): string {
  return `${text.length}:${text}`
}

function pad(plain: string | Uint8Array): Buffer {
  const length = typeof plain === 'string' ? Buffer.byteLength(plain) : plain.length
  // From Node's buffer pool: a separate allocation costs more than its use.
  const padded = Buffer.allocUnsafe(Math.ceil((length + 1) / padBytes) * padBytes)
  if (typeof plain === 'string') padded.write(plain)
  else padded.set(plain)
  padded[length] = padMark
  return padded.fill(0, length + 1)
}

function unpad(padded: Buffer): Buffer {
  return padded.subarray(0, padded.lastIndexOf(padMark))
}

/** Returns null if a value can't be decrypted. Rethrows `UnknownKeyVersion`: `withKeyring` then reloads the keys. */
export function decryptOrNull<T>(open: () => T): T | null {
  try {
    return open()
  } catch (error) {
    if (error instanceof DecryptionError && !(error instanceof UnknownKeyVersion)) return null
    throw error
  }
}
