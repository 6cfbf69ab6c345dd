import type { Parser } from 'csv-parse'

/** Reason why a file cannot be read further; the text quotes nothing from the file. */
export class FileProblem extends Error {}

export const encodings = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const
export type Encoding = (typeof encodings)[number]

const boms: readonly (readonly [Encoding, Buffer])[] = [
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
]
const sampleBytes = 4096

/**
 * Returns the encoding that the first bytes of a file show: UTF-16 by its byte order mark, or by zeros in every second
 * byte, as in English letters and digits; otherwise UTF-8.
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

/** Decodes the first bytes of a file, to inspect its first line. */
export const decodeBeginning = (beginning: Buffer, encoding: Encoding): string =>
  new TextDecoder(encoding).decode(beginning.subarray(0, 2 * maxFirstLine))

const maxFirstLine = 64 * 1024

/** Passes the pieces through; throws `FileProblem` at the first that is not UTF-8. */
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

/** UTF-16 file converted to UTF-8, with a mapping of positions to the file. */
interface Transcoded {
  pieces: AsyncIterable<Buffer>
  /** Returns the number of file bytes for the first `bytes` of the text. Call it with increasing numbers. */
  fileBytes(bytes: number): number
}

/** Converts UTF-16 to UTF-8. Keeps only text that was read but not yet passed to `fileBytes`. */
function fromUtf16(pieces: AsyncIterable<Buffer>, encoding: Encoding): Transcoded {
  const unread: Buffer[] = []
  let [textAt, fileAt] = [0, 0]
  async function* read() {
    const decode = decoderFor(encoding, 'The file is not valid UTF-16. Save it as UTF-8.')
    for await (const piece of pieces) {
      const text = decode(piece)
      if (text.startsWith(swappedBom))
        throw new FileProblem('The file is UTF-16 with the other byte order. Choose that encoding.')
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
        // Records and pieces start and end with whole characters.
        fileAt += 2 * taken.toString().length
        if (taken.length === first.length) unread.shift()
        else unread[0] = first.subarray(taken.length)
      }
      return fileAt
    },
  }
}

const swappedBom = '\uFFFE'

/** Returns a decoder for pieces; call it without a piece at the end. Throws `FileProblem` with this text on failure. */
function decoderFor(encoding: Encoding, message: string): (piece?: Buffer) => string {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  return (piece) => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
    } catch (cause) {
      throw new FileProblem(message, { cause })
    }
  }
}

export type Delimiter = ',' | ';' | '\t'

export interface FileFormat {
  format: 'csv' | 'ndjson'
  encoding: Encoding
  delimiter: Delimiter
}

export interface FileRow {
  /** CSV: the cells. NDJSON: the line. */
  cells: string[]
  /** Start of the next record, in bytes of the file. */
  end: number
}

export const maxRecordBytes = 1024 * 1024

/** Yields the records from `start` on, which must be the start of a record. Reads ahead by one or two pieces. */
export async function* readRows(
  pieces: AsyncIterable<Buffer>,
  { format, encoding, delimiter }: FileFormat,
  start: number,
): AsyncGenerator<FileRow> {
  const rowsOf = (text: AsyncIterable<Buffer>, of: NarrowEncoding) =>
    format === 'csv' ? csvRows(text, of, delimiter, start) : ndjsonRows(text, of, start)
  if (encoding === 'windows-1252') return yield* rowsOf(pieces, encoding)
  if (encoding === 'utf-8') return yield* rowsOf(checkUtf8(pieces, start === 0), encoding)
  const text = fromUtf16(pieces, encoding)
  for await (const { cells, end } of rowsOf(text.pieces, 'utf-8')) {
    yield { cells, end: start + text.fileBytes(end - start) }
  }
}

type NarrowEncoding = Extract<Encoding, 'utf-8' | 'windows-1252'>

async function* csvRows(
  pieces: AsyncIterable<Buffer>,
  encoding: NarrowEncoding,
  delimiter: Delimiter,
  start: number,
): AsyncGenerator<FileRow> {
  const { parse } = await import('csv-parse')
  const parser = parse({
    delimiter,
    bom: start === 0,
    encoding: encoding === 'utf-8' ? 'utf8' : 'latin1',
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxRecordBytes,
    info: true,
  })
  const feeding = feedParser(pieces, parser)
  let isFirst = start === 0
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { bytes: number } }>) {
      const isForExcel = isFirst && isDelimiterLine(record)
      isFirst = false
      if (isForExcel) continue
      yield { cells: encoding === 'utf-8' ? record : record.map(fromLatin1), end: start + info.bytes }
    }
    await feeding
  } catch (error) {
    throw problemOf(error)
  } finally {
    parser.destroy()
    await feeding.catch(() => {})
  }
}

/** Returns true for a first line such as `sep=;`, which tells Excel the delimiter and is not a row. */
const isDelimiterLine = ([first = '', ...rest]: readonly string[]): boolean =>
  /^sep=[,;\t]?$/i.test(first) && rest.every((cell) => cell === '')

/** Writes the pieces with backpressure; an error of the source also ends the parser. */
async function feedParser(pieces: AsyncIterable<Buffer>, parser: Parser): Promise<void> {
  const closed = new Promise<void>((resolve) => parser.once('close', resolve))
  try {
    for await (const piece of pieces) {
      if (parser.destroyed) return
      if (parser.write(piece)) continue
      await Promise.race([new Promise<void>((resolve) => parser.once('drain', resolve)), closed])
    }
    parser.end()
  } catch (error) {
    parser.destroy(error as Error)
  }
}

function problemOf(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new FileProblem('A quote is never closed')
  if (code === 'CSV_MAX_RECORD_SIZE')
    return new FileProblem('A row is longer than 1 MiB; a closing quote may be missing')
  return code.startsWith('CSV_') ? new FileProblem('The quotes in a row are not valid CSV') : error
}

const windows1252 = new TextDecoder('windows-1252')

// They differ only between 0x80 and 0x9f, which are control characters in Latin-1.
function fromLatin1(cell: string): string {
  return /[\x80-\x9f]/.test(cell) ? windows1252.decode(Buffer.from(cell, 'latin1')) : cell
}

async function* ndjsonRows(
  pieces: AsyncIterable<Buffer>,
  encoding: NarrowEncoding,
  start: number,
): AsyncGenerator<FileRow> {
  const decode = (line: Buffer) => (encoding === 'utf-8' ? line.toString('utf8') : windows1252.decode(line))
  let rest: Buffer = Buffer.alloc(0)
  let end = start
  for await (const piece of pieces) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    let from = 0
    for (let to = rest.indexOf(10); to !== -1; to = rest.indexOf(10, from)) {
      const line = decode(rest.subarray(from, to))
      end += to + 1 - from
      from = to + 1
      if (!isBlank(line)) yield { cells: [withoutBom(line)], end }
    }
    rest = rest.subarray(from)
    if (rest.length > maxRecordBytes) throw new FileProblem('A line is longer than 1 MiB')
  }
  const last = decode(rest)
  if (!isBlank(last)) yield { cells: [withoutBom(last)], end: end + rest.length }
}

// Skips the last line of an export, which is not a lead.
const isBlank = (line: string) => line.trim() === '' || /^\{"endOfExport":\{"count":\d+\}\}\s*$/.test(line)
const withoutBom = (line: string) => (line.startsWith('\uFEFF') ? line.slice(1) : line)

const delimiters: readonly Delimiter[] = [',', ';', '\t']

/** Returns the most frequent delimiter in the first line, outside quotes. */
export function detectDelimiter(beginning: string): Delimiter {
  const declared = /^(?:\uFEFF|ï»¿)?sep=([,;\t])\r?\n/i.exec(beginning)?.[1]
  if (declared !== undefined) return declared as Delimiter
  const [header = ''] = beginning.replaceAll(/"[^"]*"/g, '').split(/[\r\n]/, 1)
  const count = (delimiter: Delimiter) => header.split(delimiter).length
  return delimiters.toSorted((a, b) => count(b) - count(a))[0] ?? ','
}
