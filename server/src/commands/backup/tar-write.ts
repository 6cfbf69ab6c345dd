import { once } from 'node:events'
import type { Writable } from 'node:stream'

const blockBytes = 512
export const maxNameBytes = 100

export interface TarWriter {
  /** How many bytes were written. */
  readonly bytes: number
  add(name: string, content: Uint8Array): Promise<void>
  /** Throws when the content is not as long as was said. */
  addStream(name: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<void>
  end(): Promise<void>
}

/** Writes a tar, which any `tar` lists, as fast as `to` takes it. */
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
      // A copy: whoever gave it may use its memory again.
      await write(Buffer.from(piece))
    }
    if (seen !== bytes) throw new Error(`${name} has ${seen} bytes and not ${bytes}, as it was listed with`)
    await write(Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes))
  }
  return {
    get bytes() {
      return total
    },
    add: (name, content) => addStream(name, content.length, one(content)),
    addStream,
    end: () => write(Buffer.alloc(2 * blockBytes)),
  }
}

async function* one(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

function headerOf(name: string, bytes: number): Buffer {
  if (Buffer.byteLength(name) > maxNameBytes) throw new RangeError(`${name} is too long a name for a tar`)
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

/** Of a header, its own field counted as blanks. */
export function sumOf(header: Uint8Array): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte
  return sum
}
