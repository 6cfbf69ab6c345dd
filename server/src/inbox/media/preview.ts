import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../base/clock.ts'
import { serverEnvironment } from '../../base/embedded/binaries.ts'
import { newId } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import { Scheduler } from '../../base/scheduling/fair-queue.ts'
import { decryptFile, encryptFile, type FileKey } from '../../media/encrypted-file.ts'
import type { MediaStore } from '../../media/store/store.ts'
import type { DetectedFile } from './inspect-file.ts'

export interface Preview {
  /** Size of the original picture, after rotation. */
  width: number
  height: number
  /** At most 640 × 640 pixels and 60 KB. */
  webp: Buffer
  /** Tiny JPEG in base64, shown until the preview is loaded. */
  placeholder: string
}

/**
 * Creates previews in a separate process, one at a time: image decoders are large C libraries, and the pictures come
 * from strangers. The process has neither keys nor settings, and is killed if it exceeds its time or memory.
 */
export interface Previews {
  /**
   * Returns null if the picture cannot be decoded within the limits of size, time and memory. Throws if `bytes` does.
   * Scheduled fairly among workspaces, because a crafted picture can use the full time limit.
   */
  create(bytes: AsyncIterable<Uint8Array>, size: number, workspaceId: string): Promise<Preview | null>
  close(): Promise<void>
}

export interface PreviewOptions {
  log: Log
  maxMs?: number
  maxMemoryBytes?: number
}

const types = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif'])
const maxBytes = 20 * 1024 * 1024
const idleMs = 30_000
const checkMemoryEveryMs = 25
/** Restarts the process to release memory leaked by decoders. */
const picturesPerProcess = 500
const pageBytes = 4096

/** Returns whether a preview can be created for a file. */
export function hasPreview({ realType, bytes }: Pick<DetectedFile, 'realType' | 'bytes'>): boolean {
  return realType !== null && types.has(realType) && bytes <= maxBytes
}

export function createPreviews({ log, maxMs = 10_000, maxMemoryBytes = 512 * 1024 * 1024 }: PreviewOptions): Previews {
  const fairQueue = createFairQueue()
  let decoder: Decoder | null = null
  let isClosed = false
  let idle: NodeJS.Timeout | undefined

  const end = async () => {
    const ending = decoder
    decoder = null
    await ending?.kill()
  }
  const createPreview = async (bytes: AsyncIterable<Uint8Array>, size: number): Promise<Preview | null> => {
    clearTimeout(idle)
    if (isClosed) return null
    decoder ??= startDecoder()
    const activeDecoder = decoder
    const limits = watchLimits(activeDecoder, maxMs, maxMemoryBytes)
    try {
      return await activeDecoder.decode(bytes, size)
    } catch (error) {
      // The process may be in any state.
      await end()
      if (!(error instanceof DecoderExited)) throw error
      log.warn('thumbnail generation failed', { code: limits.reason() ?? 'decoder_ended' })
      return null
    } finally {
      limits.stop()
      if (activeDecoder.pictures() >= picturesPerProcess) await end()
      idle = setTimeout(() => void end(), idleMs).unref()
    }
  }
  return {
    create: (bytes, size, workspaceId) => fairQueue(workspaceId, () => createPreview(bytes, size)),
    close: async () => {
      isClosed = true
      clearTimeout(idle)
      await end()
    },
  }
}

/** Returns a queue that runs one task at a time and alternates between workspaces. */
function createFairQueue(): <T>(workspaceId: string, work: () => Promise<T>) => Promise<T> {
  const scheduler = new Scheduler<() => void>({ size: 1, share: 1, maxWaiting: Number.POSITIVE_INFINITY })
  return async (workspaceId, work) => {
    await new Promise<void>((go) => {
      if (scheduler.request(workspaceId, '', go, 0) === 'goes') go()
    })
    try {
      return await work()
    } finally {
      for (const go of scheduler.release(workspaceId, 0)) go()
    }
  }
}

class DecoderExited extends Error {}

interface Decoder {
  pid: number | undefined
  pictures(): number
  decode(bytes: AsyncIterable<Uint8Array>, size: number): Promise<Preview | null>
  kill(): Promise<void>
}

/** Starts the decoder. Frames start with a 4-byte length: picture in; description and preview out. */
function startDecoder(): Decoder {
  const script = fileURLToPath(new URL('./preview-decoder.ts', import.meta.url))
  // A small JavaScript heap: picture data is outside of it.
  const child = spawn(process.execPath, [...process.execArgv, '--max-old-space-size=64', script], {
    env: serverEnvironment(),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const { stdin, stdout } = child
  const exited = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  // Write errors after the process has ended are reported by its exit.
  stdin.on('error', () => {})
  const frames = readFrames(stdout)
  let pictures = 0
  return {
    pid: child.pid,
    pictures: () => pictures,
    decode: async (bytes, size) => {
      pictures++
      const response = Promise.all([frames.next(), frames.next()])
      response.catch(() => {})
      await writeFrame(stdin, bytes, size)
      const [head, webp] = await response
      if (head.done === true || webp.done === true) throw new DecoderExited('The decoder has exited')
      const result = JSON.parse(head.value.toString('utf8')) as Omit<Preview, 'webp'> | null
      return result === null ? null : { ...result, webp: webp.value }
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function writeFrame(stdin: Writable, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void> {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(size)
  await write(stdin, length)
  for await (const piece of bytes) await write(stdin, piece)
}

/** Resolves when the chunk is written, so that its buffer can be reused. */
function write(stdin: Writable, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(piece, (cause) => {
      if (cause) reject(new DecoderExited('Failed to write to the decoder', { cause }))
      else resolve()
    })
  })
}

async function* readFrames(stdout: Readable): AsyncGenerator<Buffer> {
  let buffer = Buffer.alloc(0)
  for await (const piece of stdout) {
    buffer = Buffer.concat([buffer, piece as Buffer])
    while (buffer.length >= 4 && buffer.length >= 4 + buffer.readUInt32BE(0)) {
      const end = 4 + buffer.readUInt32BE(0)
      yield buffer.subarray(4, end)
      buffer = Buffer.from(buffer.subarray(end))
    }
  }
}

function watchLimits(decoder: Decoder, maxMs: number, maxMemoryBytes: number) {
  let killReason: 'decoder_timeout' | 'decoder_memory' | null = null
  const kill = (reason: NonNullable<typeof killReason>) => {
    killReason ??= reason
    void decoder.kill()
  }
  const timer = setTimeout(kill, maxMs, 'decoder_timeout')
  // Other systems have no such file; there only the pixel limit applies.
  const memoryCheck = setInterval(async () => {
    const text = await readFile(`/proc/${decoder.pid}/statm`, 'utf8').catch(() => '')
    if (Number(text.split(' ')[1]) * pageBytes > maxMemoryBytes) kill('decoder_memory')
  }, checkMemoryEveryMs)
  return {
    reason: () => killReason,
    stop: () => {
      clearTimeout(timer)
      clearInterval(memoryCheck)
    },
  }
}

interface StoredPreview extends Preview {
  storedAs: string
  key: Buffer
  bytes: number
}

/**
 * Creates the preview of a stored file and stores it, adding its name to `stored` first. Returns null if the file is
 * not a readable picture; it then remains a download.
 */
export async function storePreview(
  { store, clock, previews }: { store: MediaStore; clock: Clock; previews: Previews },
  { stored, workspaceId }: { stored: string[]; workspaceId: string },
  secret: FileKey,
  detected: DetectedFile,
): Promise<StoredPreview | null> {
  if (!hasPreview(detected)) return null
  const all = { start: 0, end: detected.bytes }
  const buffer = (start: number, end: number | null) => store.open(secret.id, start, end)
  const preview = await previews.create(decryptFile(secret, all, buffer), detected.bytes, workspaceId)
  if (preview === null) return null
  const storedAs = newId(clock.now())
  const encrypted = encryptFile(storedAs, Readable.from([preview.webp]))
  stored.push(storedAs)
  await store.put(storedAs, encrypted.stored)
  return { ...preview, storedAs, key: encrypted.key, bytes: preview.webp.length }
}
