import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { releaseMemory } from '../base/bytes/release-memory.ts'

/** Part of a file: from `start` to just before `end`. */
export interface ByteRange {
  start: number
  end: number
}

/** What opens a stored file. `key` is kept sealed in the row that names the file. */
export interface FileKey {
  /** Names the file for good; it opens by no other name. */
  id: string
  key: Uint8Array
  /** Of the file itself, not of what is stored. */
  bytes: number
}

/** A stored file that was altered, cut, lengthened, or exchanged for another. */
export class FileDecryptionError extends Error {
  constructor(id: string, cause?: unknown) {
    super(`The stored file ${id} does not open: put it back from a backup`, { cause })
  }
}

// A file is stored as chunks, each sealed by itself: a nonce that says which one it is and whether it is the last (so
// none can be cut off, exchanged or added), the ciphertext, the tag. The nonce is not stored.
const chunkBytes = 65_536
const tagBytes = 16
const storedChunkBytes = chunkBytes + tagBytes

/**
 * Seals a file under a key made for it alone: nonces begin anew with each file, so a key must never seal two. Each piece
 * of what is to be stored is good until the next is asked for.
 */
export function encryptFile(
  id: string,
  bytes: AsyncIterable<Uint8Array>,
): { key: Buffer; stored: AsyncGenerator<Uint8Array> } {
  const key = randomBytes(32)
  return { key, stored: encryptChunks(cipherOf(id, key), bytes) }
}

/**
 * Opens a part of a file. `read` gives stored bytes from `start` on, to just before `end` or, when that is null, to
 * where they end. Throws FileDecryptionError before it gives a byte of a chunk that is not as it was sealed.
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
  // Whoever reads to the end also learns whether something was added there.
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
        // Not before there is more: only then is it known that this one is not the last.
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

/** Cuts what comes into stored chunks, of which the last may be shorter; each is good until the next is asked for. */
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
