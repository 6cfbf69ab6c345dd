import { FileProblem } from './file-problem.ts'

export const encodings = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const
export type Encoding = (typeof encodings)[number]

const boms: readonly (readonly [Encoding, Buffer])[] = [
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
]
const sampleBytes = 4096

/**
 * Returns the encoding that the first bytes of a file show: UTF-16 by its mark, or by its zeros, of which every second byte is
 * one in the letters and digits of English; UTF-8 for all else.
 */
export function detectEncoding(beginning: Buffer): Encoding {
  const marked = boms.find(([, bom]) => beginning.subarray(0, 2).equals(bom))
  if (marked !== undefined) return marked[0]
  const sample = beginning.subarray(0, sampleBytes)
  let [even, odd] = [0, 0]
  for (let at = sample.indexOf(0); at !== -1; at = sample.indexOf(0, at + 1)) {
    if (at % 2 === 0) even++
    else odd++
  }
  if (Math.max(even, odd) < Math.max(2, sample.length / 20)) return 'utf-8'
  return odd > even * 10 ? 'utf-16le' : even > odd * 10 ? 'utf-16be' : 'utf-8'
}

/** The first bytes of a file as text, for a look at its first line. */
export const decodeBeginning = (beginning: Buffer, encoding: Encoding): string =>
  new TextDecoder(encoding).decode(beginning.subarray(0, 2 * maxFirstLine))

const maxFirstLine = 64 * 1024

/** Passes the pieces on; throws `FileProblem` at the first that is not UTF-8. */
export async function* checkUtf8(pieces: AsyncIterable<Buffer>, isBeginning: boolean): AsyncGenerator<Buffer> {
  const decode = decoderFor('utf-8', 'The file is not UTF-8. Save it as UTF-8, or choose the encoding windows-1252.')
  let isFirst = isBeginning
  for await (const piece of pieces) {
    const seen = isFirst ? detectEncoding(piece) : 'utf-8'
    if (seen !== 'utf-8') throw new FileProblem(`The file is not UTF-8. Choose the encoding ${seen}.`)
    isFirst = false
    decode(piece)
    yield piece
  }
  decode()
}

/** A file of UTF-16 as UTF-8, and where in the file a place of that is. */
export interface Transcoded {
  pieces: AsyncIterable<Buffer>
  /** The bytes of the file that the first `bytes` of the text take. Call it with growing numbers. */
  fileBytes(bytes: number): number
}

/** Reads UTF-16 as UTF-8. Keeps only what was read and not yet asked for by `fileBytes`. */
export function fromUtf16(pieces: AsyncIterable<Buffer>, encoding: Encoding): Transcoded {
  const unread: Buffer[] = []
  let [textAt, fileAt] = [0, 0]
  async function* read() {
    const decode = decoderFor(encoding, 'The file is not UTF-16 to its end. Save it as UTF-8.')
    for await (const piece of pieces) {
      const text = decode(piece)
      if (text.startsWith(swappedBom))
        throw new FileProblem('The file is UTF-16 of the other byte order. Choose that encoding.')
      const bytes = Buffer.from(text)
      unread.push(bytes)
      yield bytes
    }
    decode()
  }
  return {
    pieces: read(),
    fileBytes: (bytes) => {
      for (let first = unread[0]; first !== undefined && textAt < bytes; first = unread[0]) {
        const taken = first.subarray(0, bytes - textAt)
        textAt += taken.length
        // Records begin and end with whole characters, and so do pieces.
        fileAt += 2 * taken.toString().length
        if (taken.length === first.length) unread.shift()
        else unread[0] = first.subarray(taken.length)
      }
      return fileAt
    },
  }
}

const swappedBom = '\uFFFE'

/** Decodes piece by piece, and without one to the end; throws `FileProblem` in these words where it cannot. */
function decoderFor(encoding: Encoding, words: string): (piece?: Buffer) => string {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  return (piece) => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw new FileProblem(words, { cause })
    }
  }
}
