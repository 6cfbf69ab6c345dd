import { type Cipheriv, createCipheriv, createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto'
import {
  contextOf,
  type DataKey,
  DecryptionError,
  decryptValue,
  type EncryptionContext,
  encryptValue,
  UnknownKeyVersion,
  versionOf,
} from './encrypt.ts'
import type { EncryptedColumns, PlaintextCache } from './plaintext-cache.ts'

/** Keys of one scope: a workspace or the instance. All functions are synchronous and take microseconds. */
export interface Keyring {
  /** Key version that encrypts new values. */
  readonly dataVersion: number
  /** Default version of `exact` and `tokens`. */
  readonly indexVersion: number
  /** All index versions that rows may have, ascending: lookups search all of them at once. */
  readonly indexVersions: readonly number[]
  /** Encrypts a value for one location. Its length is only visible as a multiple of 32 bytes. */
  encrypt(location: EncryptionContext, plain: string | Uint8Array): Buffer
  /** Throws DecryptionError if the value was altered or moved, or its key is unknown. */
  decrypt(location: EncryptionContext, ciphertext: Uint8Array): Buffer
  decryptText(location: EncryptionContext, ciphertext: Uint8Array): string
  /**
   * Returns the decrypted columns of a row for pages that are read repeatedly: cached while the encrypted values are
   * unchanged. The ciphertexts are in base64, separated by a space. The result must not be modified.
   */
  decryptCached<T>(columns: EncryptedColumns<T>, row: string, ciphertext: string): T
  /** Returns a blind index of 16 bytes: equal for equal texts of one label in this scope, and otherwise random. */
  exact(label: string, text: string, version?: number): Buffer
  /** Returns a signed 32-bit token for every gram (at most 14 bytes of UTF-8), ascending and distinct. */
  tokens(grams: readonly string[], version?: number): number[]
  /** Returns `exact` under every version that rows may have. */
  exacts(label: string, text: string): Buffer[]
  /** Like `exact`, but unchanged by rotations: for data that nobody is looked up by. */
  stable(label: string, text: string): Buffer
  /** Returns the keyring for a caller that has just reloaded it: an unknown version then counts as a broken value. */
  asNewest(): Keyring
}

/** All secret versions in use, by purpose. */
export interface Secrets {
  data: readonly Secret[]
  index: readonly Secret[]
  stable: readonly Secret[]
}

export interface Secret {
  version: number
  bytes: Buffer
  current: boolean
}

type Decryption = Pick<Keyring, 'decrypt' | 'decryptText' | 'decryptCached'>

interface IndexKeys {
  secret: Buffer
  blocks: Cipheriv
  exact: Map<string, Digest>
}

/** Throws if a purpose has no current secret. Without a cache, each value is decrypted again. */
export function createKeyring(
  scopeId: string,
  { data, index, stable }: Secrets,
  plaintextCache?: PlaintextCache,
): Keyring {
  const dataKeys = new Map(data.map((secret) => [secret.version, dataKeyOf(scopeId, secret)]))
  const indexKeys = new Map(index.map((secret) => [secret.version, indexKeysOf(scopeId, secret)]))
  const dataVersion = currentSecret(scopeId, 'data', data).version
  const indexVersion = currentSecret(scopeId, 'index', index).version
  const indexVersions = [...indexKeys.keys()].sort((a, b) => a - b)
  const encryptionKey = getKey(dataKeys, dataVersion)
  const stableKeys = indexKeysOf(scopeId, currentSecret(scopeId, 'stable', stable))

  const createDecryption = (Unknown: typeof DecryptionError): Decryption => {
    const decrypt = (location: EncryptionContext, ciphertext: Uint8Array): Buffer => {
      const dataKey = dataKeys.get(versionOf(location, ciphertext))
      if (dataKey === undefined) throw new Unknown(location)
      return decryptValue(dataKey, location, ciphertext)
    }
    const decryptColumns = <T>({ table, columns, read }: EncryptedColumns<T>, row: string, ciphertext: string): T => {
      const values = ciphertext.split(' ')
      return read(
        ...columns.map((column, n) => {
          const value = values[n] ?? ''
          return value === '' ? null : decrypt({ table, row, column }, Buffer.from(value, 'base64')).toString('utf8')
        }),
      )
    }
    return {
      decrypt,
      decryptText: (location, ciphertext) => decrypt(location, ciphertext).toString('utf8'),
      decryptCached: (columns, row, ciphertext) => {
        if (plaintextCache === undefined) return decryptColumns(columns, row, ciphertext)
        return plaintextCache.get(scopeId, columns, row, ciphertext, () => decryptColumns(columns, row, ciphertext))
      },
    }
  }

  const keyring: Keyring = {
    dataVersion,
    indexVersion,
    indexVersions,
    encrypt: (location, plain) => encryptValue(encryptionKey, location, plain),
    ...createDecryption(UnknownKeyVersion),
    exact: (label, text, version = indexVersion) => exactIndex(scopeId, getKey(indexKeys, version), label, text),
    tokens: (grams, version = indexVersion) => tokensOf(getKey(indexKeys, version).blocks, grams),
    exacts: (label, text) =>
      indexVersions.map((version) => exactIndex(scopeId, getKey(indexKeys, version), label, text)),
    stable: (label, text) => exactIndex(scopeId, stableKeys, label, text),
    asNewest: () => ({ ...keyring, ...createDecryption(DecryptionError) }),
  }
  return keyring
}

function dataKeyOf(scopeId: string, { version, bytes }: Secret): DataKey {
  return { version, key: deriveKey(scopeId, bytes, 'seal'), context: contextOf(scopeId, version) }
}

function indexKeysOf(scopeId: string, { bytes }: Secret): IndexKeys {
  return { secret: bytes, blocks: blockCipher(deriveKey(scopeId, bytes, 'tokens')), exact: new Map() }
}

function deriveKey(scopeId: string, secret: Buffer, label: string): KeyObject {
  return createSecretKey(deriveBytes(scopeId, secret, label))
}

function deriveBytes(scopeId: string, secret: Buffer, label: string): Buffer {
  const salt = Buffer.from(scopeId.replaceAll('-', ''), 'hex')
  return Buffer.from(hkdfSync('sha256', secret, salt, `parley ${label}`, 32))
}

function currentSecret(scopeId: string, purpose: string, secrets: readonly Secret[]): Secret {
  const current = secrets.find((secret) => secret.current)
  if (current === undefined) throw new Error(`Scope ${scopeId} has no current ${purpose} secret`)
  return current
}

function getKey<T>(keys: Map<number, T>, version: number): T {
  const found = keys.get(version)
  if (found === undefined) throw new Error(`Key version ${version} is not known`)
  return found
}

function exactIndex(scopeId: string, keys: IndexKeys, label: string, text: string): Buffer {
  let digest = keys.exact.get(label)
  if (digest === undefined) {
    digest = createDigest(deriveBytes(scopeId, keys.secret, `exact ${label}`))
    keys.exact.set(label, digest)
  }
  return digest(text)
}

type Digest = (text: string) => Buffer

const [hashBlockBytes, hashBytes, digestBytes, textBytes] = [64, 32, 16, 512]

/** Computes the first half of HMAC-SHA-256 (RFC 2104): two single hash calls take half the time of an HMAC per text. */
function createDigest(key: Buffer): Digest {
  const inner = padded(key, 0x36, textBytes)
  const outer = padded(key, 0x5c, hashBytes)
  return (text) => {
    const bytes = inner.write(text, hashBlockBytes)
    const isWhole = text.length * 3 <= textBytes
    const first = isWhole
      ? inner.subarray(0, hashBlockBytes + bytes)
      : Buffer.concat([inner.subarray(0, hashBlockBytes), Buffer.from(text)])
    outer.write(hash('sha256', first, 'hex'), hashBlockBytes, 'hex')
    return Buffer.from(hash('sha256', outer, 'hex').slice(0, digestBytes * 2), 'hex')
  }
}

/** Returns the key, padded to a hash block and masked, with space after it. */
function padded(key: Buffer, mask: number, space: number): Buffer {
  const bytes = Buffer.alloc(hashBlockBytes + space)
  key.copy(bytes)
  for (let n = 0; n < hashBlockBytes; n++) bytes[n] = (bytes[n] ?? 0) ^ mask
  return bytes
}

const blockBytes = 16
const maxGramBytes = blockBytes - 2

// ECB is a pseudo-random function on distinct blocks, and blocks are independent. So one cipher can be reused forever,
// twenty times faster than an HMAC per gram.
const blockCipher = (key: KeyObject): Cipheriv => createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)

function tokensOf(cipher: Cipheriv, grams: readonly string[]): number[] {
  const blocks = Buffer.alloc(grams.length * blockBytes)
  // Counted loops, because this runs for every gram of every lead and limits the speed of imports.
  for (let n = 0; n < grams.length; n++) writeBlock(blocks, n * blockBytes, grams[n] ?? '')
  const encrypted = cipher.update(blocks)
  const sorted = new Int32Array(grams.length)
  for (let n = 0; n < sorted.length; n++) sorted[n] = encrypted.readInt32BE(n * blockBytes)
  sorted.sort()
  const tokens: number[] = []
  for (const token of sorted) if (token !== tokens.at(-1)) tokens.push(token)
  return tokens
}

/** Writes a domain byte, the length and the gram, so that no two grams share a block. */
function writeBlock(blocks: Buffer, start: number, gram: string): void {
  blocks[start] = 1
  // Character by character, because most grams are ASCII and calls into the runtime would dominate.
  let length = 0
  for (; length < gram.length && length < maxGramBytes; length++) {
    const code = gram.charCodeAt(length)
    if (code > 127) break
    blocks[start + 2 + length] = code
  }
  if (length < gram.length) {
    length = Buffer.byteLength(gram)
    if (length > maxGramBytes) throw new RangeError(`gram must have at most ${maxGramBytes} bytes`)
    blocks.write(gram, start + 2)
  }
  blocks[start + 1] = length
}
