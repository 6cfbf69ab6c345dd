import { maxNameBytes, sumOf } from './tar-write.ts'

export interface TarEntry {
  name: string
  bytes: number
  /** To be read to its end before the next entry is asked for. */
  content: AsyncGenerator<Buffer>
}

/** A backup that ends before its end, or is none. */
export class CutOff extends Error {
  constructor() {
    super('The backup is cut off: it ends before its end mark, so nothing of it is taken. Make or copy it again.')
  }
}

const blockBytes = 512

/** The entries of a tar, as they come. */
export async function* readTar(from: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = bytesOf(from)
  try {
    for (;;) {
      const header = await source.exactly(blockBytes)
      if (header.every((byte) => byte === 0)) return
      const { name, bytes } = readHeader(header)
      yield { name, bytes, content: source.pieces(bytes) }
      const filling = await source.exactly((blockBytes - (bytes % blockBytes)) % blockBytes)
      if (filling.some((byte) => byte !== 0)) throw notOurs()
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
  if (!isWhole) throw notOurs()
  return { name: textAt(0, maxNameBytes), bytes: Number.parseInt(size, 8) }
}

const notOurs = () => new Error('This is no backup of Parley, or it was altered')

/** What comes, in the portions that are wanted. */
function bytesOf(from: AsyncIterable<Uint8Array>) {
  const source = from[Symbol.asyncIterator]()
  let rest = Buffer.alloc(0)
  const some = async (): Promise<Buffer> => {
    while (rest.length === 0) {
      const { value, done } = await source.next()
      if (done) throw new CutOff()
      rest = Buffer.from(value)
    }
    return rest
  }
  async function* pieces(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const piece = (await some()).subarray(0, left)
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
