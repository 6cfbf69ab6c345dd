import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { releaseMemory } from '../base/bytes/release-memory.ts'

/** Part of a file: from `start` up to `end` (exclusive). */
export interface ByteRange {
  start: number
  end: number
}

/** Decrypts a stored file. `key` is stored encrypted in the row that refers to the file. */
export interface FileKey {
  /** Permanent id of the file, authenticated by the encryption. */
  id: string
  key: Uint8Array
  /** Size of the plaintext. */
  bytes: number
}

/** A stored file was altered, truncated, extended or replaced. */
export class FileDecryptionError extends Error {
  constructor(id: string, cause?: unknown) {
    super(`The stored file ${id} cannot be decrypted: restore it from a backup`, { cause })
  }
}

// A file is stored in chunks, each encrypted separately: ciphertext, then tag. The nonce contains the chunk's index and
// whether it is the last one, so that chunks cannot be removed, reordered or added. It is not stored.
const chunkBytes = 65_536
const tagBytes = 16
const storedChunkBytes = chunkBytes + tagBytes

/**
 * Encrypts a file with a new key. Nonces restart with each file, so a key must never be used for two. Each chunk of
 * `stored` is valid until the next one is requested.
 */
export function encryptFile(
  id: string,
  bytes: AsyncIterable<Uint8Array>,
): { key: Buffer; stored: AsyncGenerator<Uint8Array> } {
  const key = randomBytes(32)
  return { key, stored: encryptChunks(cipherOf(id, key), bytes) }
}

/**
 * Decrypts part of a file. `read` returns stored bytes from `start` up to `end` (exclusive) or, if null, to the end.
 * Throws FileDecryptionError before returning any byte of a modified chunk.
 */
export async function* decryptFile(
  { id, key, bytes }: FileKey,
  { start, end }: ByteRange,
  read: (start: number, end: number | null) => Promise<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array> {
  if (start < 0 || end < start || end > bytes) throw new RangeError(`No bytes ${start} to ${end} in ${bytes}`)
  if (start === end && bytes > 0) return
  const cipher = cipherOf(id, key)
  const last = lastChunkOf(bytes)
  const [from, to] = [Math.floor(start / chunkBytes), Math.max(0, Math.ceil(end / chunkBytes) - 1)]
  // A read to the end also detects appended data.
  const stored = await read(from * storedChunkBytes, to === last ? null : (to + 1) * storedChunkBytes)
  let index = from
  for await (const ciphertext of chunksOf(stored, (to - from + 1) * storedChunkBytes, id)) {
    const isLast = index === last
    const expected = isLast ? bytes - last * chunkBytes + tagBytes : storedChunkBytes
    if (ciphertext.length !== expected) throw new FileDecryptionError(id)
    const plaintext = decryptChunk(cipher, index, isLast, ciphertext)
    const begin = index * chunkBytes
    const isWhole = begin >= start && begin + plaintext.length <= end
    yield isWhole ? plaintext : plaintext.subarray(Math.max(0, start - begin), end - begin)
    index++
  }
  if (index !== to + 1) throw new FileDecryptionError(id)
}

interface FileCipher {
  id: string
  key: KeyObject
  aad: Buffer
}

function cipherOf(id: string, key: Uint8Array): FileCipher {
  return { id, key: createSecretKey(key), aad: Buffer.from(`parley file 1 ${id}`) }
}

function lastChunkOf(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / chunkBytes) - 1)
}

async function* encryptChunks(cipher: FileCipher, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const [chunk, stored] = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(storedChunkBytes)]
  let [index, filled] = [0, 0]
  try {
    for await (const part of bytes) {
      for (let at = 0; at < part.length; ) {
        // Only when more data follows is this chunk known not to be the last.
        if (filled === chunkBytes) {
          yield encryptChunk(cipher, index++, false, chunk, stored)
          filled = 0
        }
        const taken = part.subarray(at, at + chunkBytes - filled)
        chunk.set(taken, filled)
        filled += taken.length
        at += taken.length
      }
    }
    yield encryptChunk(cipher, index, true, chunk.subarray(0, filled), stored)
  } finally {
    releaseMemory(chunk)
    releaseMemory(stored)
  }
}

/** Splits stored bytes into chunks, of which the last may be shorter; each is valid until the next one is requested. */
async function* chunksOf(stored: AsyncIterable<Uint8Array>, maxBytes: number, id: string): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(storedChunkBytes)
  let [filled, total] = [0, 0]
  try {
    for await (const part of stored) {
      total += part.length
      if (total > maxBytes) throw new FileDecryptionError(id)
      for (let at = 0; at < part.length; ) {
        const taken = part.subarray(at, at + storedChunkBytes - filled)
        chunk.set(taken, filled)
        filled += taken.length
        at += taken.length
        if (filled === storedChunkBytes) {
          yield chunk
          filled = 0
        }
      }
    }
    if (filled > 0) yield chunk.subarray(0, filled)
  } finally {
    releaseMemory(chunk)
  }
}

function encryptChunk(
  { key, aad }: FileCipher,
  index: number,
  isLast: boolean,
  chunk: Buffer,
  stored: Buffer,
): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index, isLast)).setAAD(aad)
  const ciphertext = cipher.update(chunk)
  stored.set(ciphertext)
  releaseMemory(ciphertext)
  cipher.final()
  stored.set(cipher.getAuthTag(), chunk.length)
  return stored.subarray(0, chunk.length + tagBytes)
}

function decryptChunk({ id, key, aad }: FileCipher, index: number, isLast: boolean, ciphertext: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, isLast), { authTagLength: tagBytes })
    decipher.setAAD(aad).setAuthTag(ciphertext.subarray(-tagBytes))
    const plaintext = decipher.update(ciphertext.subarray(0, -tagBytes))
    decipher.final()
    return plaintext
  } catch (cause) {
    throw new FileDecryptionError(id, cause)
  }
}

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(index, 7)
  nonce[11] = isLast ? 1 : 0
  return nonce
}
