import { createCipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { contextOf, type DataKey, openValue, type SealPlace, sealValue, UnknownKeyVersion, versionOf } from './seal.ts'

/** The keys of one scope: a workspace, or the instance. Everything here is synchronous and works in microseconds. */
export interface Keyring {
  /** The version that new values are sealed under. */
  readonly dataVersion: number
  /** The version that `exact` and `tokens` use unless told otherwise. */
  readonly indexVersion: number
  /** Every index version that rows may still carry, in ascending order: look-ups ask for all of them at once. */
  readonly indexVersions: readonly number[]
  /** Encrypts a value for one place. Its length is stored only to the next multiple of 32 bytes. */
  seal(place: SealPlace, plain: string | Uint8Array): Buffer
  /** Decrypts; throws SealBroken when the value was altered or moved, or its key is not known. */
  open(place: SealPlace, sealed: Uint8Array): Buffer
  openText(place: SealPlace, sealed: Uint8Array): string
  /** 16 bytes that are equal for equal texts of one label in this scope, and tell nothing else. */
  exact(label: string, text: string, version?: number): Buffer
  /**
   * A signed 32-bit token for every gram (14 bytes of UTF-8 at most), ascending, each once. Who asks for many texts of this
   * version keeps what was `made`: they share most of their grams.
   */
  tokens(grams: Iterable<string>, version?: number, made?: Map<string, number>): number[]
  /** `exact` under every version that rows may still carry. */
  exacts(label: string, text: string): Buffer[]
  /** 16 bytes like those of `exact` that outlive every rotation: for what nobody is found by. */
  stable(label: string, text: string): Buffer
}

/** What a keyring is made of: every version that is in use, by purpose. */
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

interface IndexKeys {
  secret: Buffer
  tokens: KeyObject
  exact: Map<string, KeyObject>
}

/** Throws when a purpose lacks a current secret. */
export function makeKeyring(scopeId: string, { data, index, stable }: Secrets): Keyring {
  const dataKeys = new Map(data.map((secret) => [secret.version, dataKeyOf(scopeId, secret)]))
  const indexKeys = new Map(index.map((secret) => [secret.version, indexKeysOf(scopeId, secret)]))
  const dataVersion = currentSecret(scopeId, 'data', data).version
  const indexVersion = currentSecret(scopeId, 'index', index).version
  const indexVersions = [...indexKeys.keys()].sort((a, b) => a - b)
  const sealingKey = known(dataKeys, dataVersion)
  const stableKeys = indexKeysOf(scopeId, currentSecret(scopeId, 'stable', stable))

  const open = (place: SealPlace, sealed: Uint8Array): Buffer => {
    const dataKey = dataKeys.get(versionOf(place, sealed))
    if (dataKey === undefined) throw new UnknownKeyVersion(place)
    return openValue(dataKey, place, sealed)
  }

  return {
    dataVersion,
    indexVersion,
    indexVersions,
    seal: (place, plain) => sealValue(sealingKey, place, plain),
    open,
    openText: (place, sealed) => open(place, sealed).toString('utf8'),
    exact: (label, text, version = indexVersion) => exactIndex(scopeId, known(indexKeys, version), label, text),
    tokens: (grams, version = indexVersion, made = new Map()) =>
      tokensOf(known(indexKeys, version).tokens, grams, made),
    exacts: (label, text) =>
      indexVersions.map((version) => exactIndex(scopeId, known(indexKeys, version), label, text)),
    stable: (label, text) => exactIndex(scopeId, stableKeys, label, text),
  }
}

function dataKeyOf(scopeId: string, { version, bytes }: Secret): DataKey {
  return { version, key: deriveKey(scopeId, bytes, 'seal'), context: contextOf(scopeId, version) }
}

function indexKeysOf(scopeId: string, { bytes }: Secret): IndexKeys {
  return { secret: bytes, tokens: deriveKey(scopeId, bytes, 'tokens'), exact: new Map() }
}

function deriveKey(scopeId: string, secret: Buffer, label: string): KeyObject {
  const salt = Buffer.from(scopeId.replaceAll('-', ''), 'hex')
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, salt, `parley ${label}`, 32)))
}

function currentSecret(scopeId: string, purpose: string, secrets: readonly Secret[]): Secret {
  const current = secrets.find((secret) => secret.current)
  if (current === undefined) throw new Error(`Scope ${scopeId} has no current ${purpose} secret`)
  return current
}

function known<T>(keys: Map<number, T>, version: number): T {
  const found = keys.get(version)
  if (found === undefined) throw new Error(`Key version ${version} is not known`)
  return found
}

function exactIndex(scopeId: string, keys: IndexKeys, label: string, text: string): Buffer {
  let key = keys.exact.get(label)
  if (key === undefined) {
    key = deriveKey(scopeId, keys.secret, `exact ${label}`)
    keys.exact.set(label, key)
  }
  return createHmac('sha256', key).update(text).digest().subarray(0, 16)
}

const blockBytes = 16

function tokensOf(key: KeyObject, grams: Iterable<string>, made: Map<string, number>): number[] {
  const list = [...grams]
  const unknown = list.filter((gram) => !made.has(gram))
  if (unknown.length > 0) for (const [n, token] of makeTokens(key, unknown).entries()) made.set(unknown[n] ?? '', token)
  return [...Int32Array.from(new Set(list.map((gram) => made.get(gram) ?? 0))).sort()]
}

// One call encrypts every gram as a block of its own: ECB is a pseudo-random function on distinct blocks, and twenty
// times faster than an HMAC for each.
function makeTokens(key: KeyObject, grams: readonly string[]): Int32Array {
  const blocks = Buffer.alloc(grams.length * blockBytes)
  for (let index = 0; index < grams.length; index++) writeBlock(blocks, index * blockBytes, grams[index] ?? '')
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  const encrypted = cipher.update(blocks)
  cipher.final()
  return Int32Array.from(grams, (_, index) => encrypted.readInt32BE(index * blockBytes))
}

/** A domain byte, the length, the gram: no two grams share a block. */
function writeBlock(blocks: Buffer, start: number, gram: string): void {
  const length = Buffer.byteLength(gram)
  if (length > blockBytes - 2) throw new RangeError('A gram is 14 bytes at most')
  blocks[start] = 1
  blocks[start + 1] = length
  blocks.write(gram, start + 2)
}
