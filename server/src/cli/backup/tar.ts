import { once } from 'node:events'
import type { Writable } from 'node:stream'

const blockBytes = 512
const maxNameBytes = 100

export interface TarWriter {
  readonly bytes: number
  add(name: string, content: Uint8Array): Promise<void>
  /** Throws if the content does not have the given length. */
  addStream(name: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<void>
  end(): Promise<void>
}

/** Writes a standard tar, at the speed that `to` accepts. */
export function writeTar(to: Writable): TarWriter {
  let total = 0
  let failure: unknown
  to.once('error', (error) => {
    failure = error
  })
  const write = async (content: Uint8Array) => {
    if (failure !== undefined) throw failure
    total += content.length
    if (!to.write(content)) await once(to, 'drain')
  }
  const addStream: TarWriter['addStream'] = async (name, bytes, content) => {
    await write(headerOf(name, bytes))
    let seen = 0
    for await (const piece of content) {
      seen += piece.length
      // Copied, because the source may reuse its memory.
      await write(Buffer.from(piece))
    }
    if (seen !== bytes) throw new Error(`${name} has ${seen} bytes instead of the listed ${bytes}`)
    await write(Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes))
  }
  return {
    get bytes() {
      return total
    },
    add: (name, content) => addStream(name, content.length, singleChunk(content)),
    addStream,
    end: () => write(Buffer.alloc(2 * blockBytes)),
  }
}

async function* singleChunk(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

function headerOf(name: string, bytes: number): Buffer {
  if (Buffer.byteLength(name) > maxNameBytes) throw new RangeError(`The name ${name} is too long for a tar`)
  const header = Buffer.alloc(blockBytes)
  header.write(name, 0)
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** Returns the checksum of a header, counting the checksum field as spaces. */
function sumOf(header: Uint8Array): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte
  return sum
}

export interface TarEntry {
  name: string
  bytes: number
  /** Must be read to the end before the next entry is requested. */
  content: AsyncGenerator<Buffer>
}

/** Error for a truncated backup, or a file that is not a backup. */
export class TruncatedBackup extends Error {
  constructor() {
    super('The backup is truncated: it has no end mark, so nothing was restored. Create or copy it again.')
  }
}

/** Yields the entries of a tar in order. */
export async function* readTar(from: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = byteReaderOf(from)
  try {
    for (;;) {
      const header = await source.exactly(blockBytes)
      if (header.every((byte) => byte === 0)) return
      const { name, bytes } = readHeader(header)
      yield { name, bytes, content: source.pieces(bytes) }
      const padding = await source.exactly((blockBytes - (bytes % blockBytes)) % blockBytes)
      if (padding.some((byte) => byte !== 0)) throw invalidBackup()
    }
  } finally {
    await source.close()
  }
}

function readHeader(header: Buffer): { name: string; bytes: number } {
  const textAt = (at: number, length: number) => {
    const field = header.subarray(at, at + length)
    const end = field.indexOf(0)
    return field.subarray(0, end < 0 ? length : end).toString('utf8')
  }
  const size = textAt(124, 12)
  const isWhole = /^[0-7]{1,11}$/.test(size) && Number.parseInt(textAt(148, 8), 8) === sumOf(header)
  if (!isWhole) throw invalidBackup()
  return { name: textAt(0, maxNameBytes), bytes: Number.parseInt(size, 8) }
}

const invalidBackup = () => new Error('This is not a Parley backup, or it was altered')

/** Reads the input in pieces of requested lengths. */
function byteReaderOf(from: AsyncIterable<Uint8Array>) {
  const source = from[Symbol.asyncIterator]()
  let rest = Buffer.alloc(0)
  const nextChunk = async (): Promise<Buffer> => {
    while (rest.length === 0) {
      const { value, done } = await source.next()
      if (done) throw new TruncatedBackup()
      rest = Buffer.from(value)
    }
    return rest
  }
  async function* pieces(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const piece = (await nextChunk()).subarray(0, left)
      rest = rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }
  return {
    pieces,
    exactly: async (bytes: number): Promise<Buffer> => {
      const found: Buffer[] = []
      for await (const piece of pieces(bytes)) found.push(piece)
      return Buffer.concat(found)
    },
    close: async () => void (await source.return?.()),
  }
}
