import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, createReadStream, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Clock } from '../../../server/src/base/clock.ts'
import { randomDigits } from '../wamid.ts'

/** File that the platform stores for a number, from either side. */
export interface StoredFile extends FileMetadata {
  /** Id at the platform. */
  id: string
  numberId: string
  size: number
  sha256: Buffer
  addedAt: Date
  /** Bytes, or the path of a file that contains them. */
  content: Buffer | string
}

/** File metadata from the uploader. */
export interface FileMetadata {
  mimeType: string
  name: string | null
  width?: number
  height?: number
  seconds?: number
  /** 64 heights of 0–100. */
  waveform?: number[]
  /** Tiny JPEG. */
  thumbnail?: Buffer
}

export type FileStore = ReturnType<typeof createFileStore>

export class TooManyBytes extends Error {}

const limits = { files: 5_000, bytes: 1024 * 1024 * 1024 }
const retentionMs = 30 * 86_400_000
const idLength = 16

/** Stores ready-made files in memory, and uploads in a folder that is deleted when the simulator stops. */
export function createFileStore(clock: Clock) {
  const files = new Map<string, StoredFile>()
  let folder: string | null = null
  let bytesInAll = 0
  const folderOf = () => {
    folder ??= mkdtempSync(join(tmpdir(), 'parley-simulator-'))
    return folder
  }
  const remove = (file: StoredFile) => {
    if (!files.delete(file.id)) return
    bytesInAll -= file.size
    if (typeof file.content === 'string') rmSync(file.content, { force: true })
  }
  const keep = (file: StoredFile): StoredFile => {
    files.set(file.id, file)
    bytesInAll += file.size
    for (const oldest of files.values()) {
      if (oldest === file || (files.size <= limits.files && bytesInAll <= limits.bytes)) break
      remove(oldest)
    }
    return file
  }
  const newFile = (numberId: string, metadata: FileMetadata) => ({
    ...metadata,
    id: randomDigits(idLength),
    numberId,
    addedAt: clock.now(),
  })
  return {
    /** Stores bytes. */
    add: (numberId: string, bytes: Buffer, metadata: FileMetadata): StoredFile => {
      const sha256 = createHash('sha256').update(bytes).digest()
      return keep({ ...newFile(numberId, metadata), size: bytes.length, sha256, content: bytes })
    },
    /** Stores a stream of at most `maxBytes`. Throws `TooManyBytes` if it is longer, and stores nothing then. */
    addStream: async (numberId: string, bytes: AsyncIterable<Uint8Array>, metadata: FileMetadata, maxBytes: number) => {
      const file = newFile(numberId, metadata)
      const content = join(folderOf(), file.id)
      try {
        return keep({ ...file, ...(await writeDown(content, bytes, maxBytes)), content })
      } catch (error) {
        rmSync(content, { force: true })
        throw error
      }
    },
    /** Returns undefined if the file is unknown, removed, evicted, or older than the platform's retention. */
    find: (id: string): StoredFile | undefined => {
      const file = files.get(id)
      const isOld = file !== undefined && clock.now().getTime() - file.addedAt.getTime() >= retentionMs
      return isOld ? undefined : file
    },
    remove: (id: string): void => {
      const file = files.get(id)
      if (file !== undefined) remove(file)
    },
    stop: (): void => {
      files.clear()
      if (folder !== null) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function writeDown(path: string, bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  const hash = createHash('sha256')
  const file = await open(path, 'wx')
  let size = 0
  try {
    for await (const chunk of bytes) {
      size += chunk.length
      if (size > maxBytes) throw new TooManyBytes()
      hash.update(chunk)
      await file.writeFile(chunk)
    }
  } finally {
    await file.close()
  }
  return { size, sha256: hash.digest() }
}

/** Streams a file, or a range of it; both ends are inclusive. */
export function bytesOf({ content, size }: StoredFile, from = 0, to = size - 1): Readable {
  if (to < from) return Readable.from([])
  if (typeof content === 'string') return createReadStream(content, { start: from, end: to })
  return Readable.from([content.subarray(from, to + 1)])
}

/** Returns the first bytes of a file. */
export function headOf({ content }: StoredFile, length: number): Buffer {
  if (typeof content !== 'string') return content.subarray(0, length)
  const head = Buffer.alloc(length)
  const file = openSync(content, 'r')
  try {
    return head.subarray(0, readSync(file, head, 0, length, 0))
  } finally {
    closeSync(file)
  }
}

/** Media type from which a file's keys are derived, as linked devices name it. */
export type MediaKeyType = 'Image' | 'Video' | 'Audio' | 'Document'

/** Encrypted file as phones exchange it: what a message states so that a device can download and decrypt it. */
export interface EncryptedFile {
  /** Last segment of its address. */
  path: string
  mediaKey: Buffer
  keyType: MediaKeyType
  sealedSha256: Buffer
}

/** Files that messages of this network refer to, by the last segment of their address. */
export type EncryptedFiles = Map<string, { file: StoredFile; sealed: EncryptedFile }>

const macLength = 10

/** Encrypts a file under a key of its own. */
export function encryptFile(file: StoredFile, keyType: MediaKeyType): EncryptedFile {
  const mediaKey = randomBytes(32)
  const hash = createHash('sha256')
  for (const chunk of encryptChunks(wholeOf(file), mediaKey, keyType)) hash.update(chunk)
  return { path: randomBytes(18).toString('base64url'), mediaKey, keyType, sealedSha256: hash.digest() }
}

/** Returns the encrypted bytes; the same each time. */
export const encryptedBytesOf = (file: StoredFile, { mediaKey, keyType }: EncryptedFile): Readable =>
  Readable.from(encryptChunks(wholeOf(file), mediaKey, keyType))

/** AES-256-CBC with a truncated MAC; both keys and the IV are derived from the message's media key. */
function* encryptChunks(bytes: Iterable<Buffer>, mediaKey: Buffer, sealedAs: MediaKeyType): Generator<Buffer> {
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(32), `WhatsApp ${sealedAs} Keys`, 112))
  const iv = keys.subarray(0, 16)
  const cipher = createCipheriv('aes-256-cbc', keys.subarray(16, 48), iv)
  const mac = createHmac('sha256', keys.subarray(48, 80)).update(iv)
  for (const chunk of bytes) {
    const sealed = cipher.update(chunk)
    mac.update(sealed)
    yield sealed
  }
  const last = cipher.final()
  yield last
  yield mac.update(last).digest().subarray(0, macLength)
}

const chunkBytes = 256 * 1024

function* wholeOf({ content }: StoredFile): Generator<Buffer> {
  if (typeof content !== 'string') return yield content
  const file = openSync(content, 'r')
  try {
    for (;;) {
      const chunk = Buffer.alloc(chunkBytes)
      const read = readSync(file, chunk)
      if (read === 0) return
      yield chunk.subarray(0, read)
    }
  } finally {
    closeSync(file)
  }
}
