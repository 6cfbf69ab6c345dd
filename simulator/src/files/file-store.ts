import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, createReadStream, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Clock } from '../../../server/src/base/clock.ts'
import { randomDigits } from '../wamid.ts'

/** A file that the platform keeps for a number, whoever gave it. */
export interface StoredFile extends FileTold {
  /** By which the platform knows it. */
  id: string
  numberId: string
  size: number
  sha256: Buffer
  addedAt: Date
  /** The bytes, or the path of a file with them. */
  kept: Buffer | string
}

/** What somebody who brings a file says of it. */
export interface FileTold {
  mimeType: string
  name: string | null
  width?: number
  height?: number
  seconds?: number
  /** 64 heights of 0–100. */
  waveform?: number[]
  /** A tiny JPEG. */
  thumbnail?: Buffer
}

export type FileStore = ReturnType<typeof createFileStore>

export class TooManyBytes extends Error {}

const limits = { files: 5_000, bytes: 1024 * 1024 * 1024 }
const keptForMs = 30 * 86_400_000
const idLength = 16

/** Where the platform keeps files: what is made up in memory, what is brought in a folder of its own until it stops. */
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
    if (typeof file.kept === 'string') rmSync(file.kept, { force: true })
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
  const newFile = (numberId: string, told: FileTold) => ({
    ...told,
    id: randomDigits(idLength),
    numberId,
    addedAt: clock.now(),
  })
  return {
    /** Keeps bytes that are at hand. */
    add: (numberId: string, bytes: Buffer, told: FileTold): StoredFile => {
      const sha256 = createHash('sha256').update(bytes).digest()
      return keep({ ...newFile(numberId, told), size: bytes.length, sha256, kept: bytes })
    },
    /** Keeps a stream of at most so many bytes; throws `TooManyBytes` when there are more, and keeps nothing then. */
    take: async (numberId: string, bytes: AsyncIterable<Uint8Array>, told: FileTold, maxBytes: number) => {
      const file = newFile(numberId, told)
      const kept = join(folderOf(), file.id)
      try {
        return keep({ ...file, ...(await writeDown(kept, bytes, maxBytes)), kept })
      } catch (error) {
        rmSync(kept, { force: true })
        throw error
      }
    },
    /** Undefined for what was never there, was removed, made room, or is older than the platform keeps it. */
    find: (id: string): StoredFile | undefined => {
      const file = files.get(id)
      const isOld = file !== undefined && clock.now().getTime() - file.addedAt.getTime() >= keptForMs
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

/** The bytes of a file, or of a part of it: both ends are within. */
export function bytesOf({ kept, size }: StoredFile, from = 0, to = size - 1): Readable {
  if (to < from) return Readable.from([])
  if (typeof kept === 'string') return createReadStream(kept, { start: from, end: to })
  return Readable.from([kept.subarray(from, to + 1)])
}

/** How a file begins. */
export function headOf({ kept }: StoredFile, length: number): Buffer {
  if (typeof kept !== 'string') return kept.subarray(0, length)
  const head = Buffer.alloc(length)
  const file = openSync(kept, 'r')
  try {
    return head.subarray(0, readSync(file, head, 0, length, 0))
  } finally {
    closeSync(file)
  }
}

/** What the keys of a file are made for, as linked devices call it. */
export type SealedAs = 'Image' | 'Video' | 'Audio' | 'Document'

/** A file as phones seal it for each other: what a message tells of it, by which a device fetches and opens it. */
export interface Sealed {
  /** The last part of its address. */
  path: string
  mediaKey: Buffer
  sealedAs: SealedAs
  sealedSha256: Buffer
}

/** Files that messages of this network name, by the last part of their address. */
export type SealedFiles = Map<string, { file: StoredFile; sealed: Sealed }>

const macLength = 10

/** Seals a file under a key of its own. */
export function sealFor(file: StoredFile, sealedAs: SealedAs): Sealed {
  const mediaKey = randomBytes(32)
  const hash = createHash('sha256')
  for (const chunk of sealing(wholeOf(file), mediaKey, sealedAs)) hash.update(chunk)
  return { path: randomBytes(18).toString('base64url'), mediaKey, sealedAs, sealedSha256: hash.digest() }
}

/** The sealed bytes, which are the same each time. */
export const sealedBytesOf = (file: StoredFile, { mediaKey, sealedAs }: Sealed): Readable =>
  Readable.from(sealing(wholeOf(file), mediaKey, sealedAs))

/** AES-256-CBC, and the beginning of a MAC over it: both keys and the first block come of the message's key. */
function* sealing(bytes: Iterable<Buffer>, mediaKey: Buffer, sealedAs: SealedAs): Generator<Buffer> {
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

function* wholeOf({ kept }: StoredFile): Generator<Buffer> {
  if (typeof kept !== 'string') return yield kept
  const file = openSync(kept, 'r')
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
