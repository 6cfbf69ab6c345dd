import { createHash } from 'node:crypto'
import { fileTypeFromBuffer } from 'file-type'

/** What was told of a file before its bytes came; null what was not. */
export interface Told {
  size: number | null
  sha256: string | null
}

/** What its bytes say. */
export interface Seen {
  bytes: number
  /** In base64. */
  sha256: string
  /** By its first bytes; null for what has none that tell, such as text. */
  realType: string | null
}

/** Enough to tell documents of office programs from other archives. */
const headBytes = 65_536

export interface WatchedFile {
  bytes: AsyncGenerator<Uint8Array>
  /** For when all of it has come. */
  seen: () => Promise<Seen>
  /** What its source threw. */
  failure: () => unknown
}

/** Passes a file on as it comes, and looks at it on the way. */
export function watchFile(bytes: AsyncIterable<Uint8Array>): WatchedFile {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let [size, headSize] = [0, 0]
  let failure: unknown
  const noteFailure = (error: unknown) => {
    failure = error
  }
  async function* watched() {
    for await (const piece of told(bytes, noteFailure)) {
      if (headSize < headBytes) {
        // A copy: the piece is the giver's again with the next one.
        const part = Buffer.from(piece.subarray(0, headBytes - headSize))
        head.push(part)
        headSize += part.length
      }
      hash.update(piece)
      size += piece.length
      yield piece
    }
  }
  return {
    bytes: watched(),
    seen: async () => ({
      bytes: size,
      sha256: hash.digest('base64'),
      realType: await typeOf(Buffer.concat(head)),
    }),
    failure: () => failure,
  }
}

/** The same pieces; what the source throws, rather than whoever takes them, is told as well. */
async function* told(bytes: AsyncIterable<Uint8Array>, failed: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (error) {
    failed(error)
    throw error
  }
}

async function typeOf(head: Buffer): Promise<string | null> {
  try {
    return (await fileTypeFromBuffer(head))?.mime.split(';')[0] ?? null
  } catch {
    // What only begins like a file of some type is of none.
    return null
  }
}

/**
 * Why a file is not the one that was told of; null when it is, for all that is known. A digest that fits proves the file,
 * whatever was said of its size. A type that was not told the truth about is no reason: such a file is kept as what it is.
 */
export function mismatchOf(told: Told, seen: Seen): 'hash_mismatch' | 'size_mismatch' | 'empty' | null {
  if (told.sha256 !== null) return told.sha256 === seen.sha256 ? null : 'hash_mismatch'
  // Nothing is what a platform answers that has lost the file, and it may well say so.
  if (seen.bytes === 0) return 'empty'
  return told.size === null || told.size === 0 || told.size === seen.bytes ? null : 'size_mismatch'
}
