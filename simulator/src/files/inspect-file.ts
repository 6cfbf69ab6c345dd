import { unprocessable } from '../../../server/src/base/errors.ts'
import type { Platform } from '../platform.ts'
import { bytesOf, type FileMetadata, type FileStore, headOf, type StoredFile, TooManyBytes } from './file-store.ts'

const headBytes = 64 * 1024
const maxNoteBytes = 16 * 1024 * 1024

/** Returns width and height of a picture from its first bytes; null for formats that phones do not take. */
export function pictureSize(head: Buffer): { width: number; height: number } | null {
  if (head.subarray(1, 4).toString('latin1') === 'PNG' && head.length >= 24) {
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
  }
  return head[0] === 0xff && head[1] === 0xd8 ? sizeOfJpeg(head) : null
}

function sizeOfJpeg(head: Buffer): { width: number; height: number } | null {
  for (let at = 2; at + 9 < head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const mark = head[at + 1] ?? 0
    const isFrame = mark >= 0xc0 && mark <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(mark)
    if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) }
  }
  return null
}

/** Adds the dimensions that a phone states for an uploaded picture. */
export function addDimensions(file: StoredFile): StoredFile {
  const size = file.mimeType.startsWith('image/') ? pictureSize(headOf(file, headBytes)) : null
  return Object.assign(file, size ?? {})
}

/** Converts a browser recording (Ogg or WebM) to a voice note as phones send it; returns other audio unchanged. */
export async function toVoiceNote(store: FileStore, file: StoredFile): Promise<StoredFile> {
  if (!/^(audio|video)\/webm\b/.test(file.mimeType) || file.size > maxNoteBytes) return file
  const note = oggOfWebm(Buffer.concat(await bytesOf(file).toArray()))
  if (note === null) return file
  const told: FileMetadata = {
    mimeType: 'audio/ogg; codecs=opus',
    name: null,
    seconds: Math.max(1, Math.round(note.seconds)),
  }
  store.remove(file.id)
  return store.add(file.numberId, note.bytes, told)
}

/** The platform's largest limit for any media type. */
const maxBytes = 100 * 1024 * 1024

interface FileUpload {
  /** Stream of a body; any other value means no file. */
  body: unknown
  type: string
  name?: string | null | undefined
  isVoice?: boolean | undefined
}

/** Stores a file from the body of a request. */
export async function storeUpload(
  { files }: Platform,
  numberId: string,
  { body, type: mimeType, name = null, isVoice = false }: FileUpload,
): Promise<StoredFile> {
  if (!isStream(body)) throw unprocessable('Send the file as application/octet-stream')
  try {
    const file = await files.addStream(numberId, body, { mimeType, name }, maxBytes)
    return isVoice ? await toVoiceNote(files, file) : addDimensions(file)
  } catch (error) {
    if (error instanceof TooManyBytes) throw unprocessable('A file may have at most 100 MB')
    throw error
  }
}

/** Returns whether the body is an unparsed stream. */
const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body

interface Element {
  id: number
  data: Buffer
}

// Elements that contain others: the segment, its clusters, and its tracks.
const containers: readonly number[] = [0x18538067, 0x1f43b675, 0x1654ae6b, 0xae]
const maxElements = 100_000

/** Returns the elements of a WebM file in order, nested ones included. Stops at invalid data. */
function readEbml(file: Buffer): Element[] {
  const elements: Element[] = []
  let at = 0
  while (at < file.length && elements.length < maxElements) {
    const id = readNumber(file, at, { keepsMark: true })
    const size = id === null ? null : readNumber(file, at + id.length, { keepsMark: false })
    if (id === null || size === null) break
    const start = at + id.length + size.length
    if (containers.includes(id.value)) {
      at = start
      continue
    }
    elements.push({ id: id.value, data: file.subarray(start, start + size.value) })
    at = start + size.value
  }
  return elements
}

// EBML number: as many leading zero bits as further bytes. Ids keep the marker bit, sizes do not.
function readNumber(file: Buffer, at: number, { keepsMark }: { keepsMark: boolean }) {
  const first = file[at]
  if (first === undefined || first === 0) return null
  const length = Math.clz32(first) - 23
  if (at + length > file.length) return null
  let value = keepsMark ? first : first & (0xff >> length)
  for (const byte of file.subarray(at + 1, at + length)) value = value * 256 + byte
  return { value, length }
}

const samplesASecond = 48_000
// An Ogg page has 255 lengths of at most 255 bytes: enough for this many of the longest packets.
const packetsAPage = 40

/** Remuxes a WebM recording to a voice note as phones send it: the same Opus in Ogg. Null without Opus in WebM. */
function oggOfWebm(webm: Buffer): { bytes: Buffer; seconds: number } | null {
  const { head, packets } = opusOf(webm)
  if (head === null || packets.length === 0) return null
  const pages = [
    pageOf([head], { flags: 2, granule: 0n, index: 0 }),
    pageOf([tags], { flags: 0, granule: 0n, index: 1 }),
  ]
  let samples = 0
  for (let at = 0; at < packets.length; at += packetsAPage) {
    const some = packets.slice(at, at + packetsAPage)
    samples += some.reduce((sum, packet) => sum + samplesOf(packet), 0)
    const isLast = at + packetsAPage >= packets.length
    pages.push(pageOf(some, { flags: isLast ? 4 : 0, granule: BigInt(samples), index: pages.length }))
  }
  return { bytes: Buffer.concat(pages), seconds: samples / samplesASecond }
}

function opusOf(webm: Buffer): { head: Buffer | null; packets: Buffer[] } {
  let head: Buffer | null = null
  const packets: Buffer[] = []
  for (const { id, data } of readEbml(webm)) {
    if (id === codecPrivate && data.subarray(0, 8).toString('latin1') === 'OpusHead') head = data
    // A block begins with its track (one byte), its time (two bytes) and flags.
    if (id === simpleBlock && data.length > 4) packets.push(data.subarray(4))
  }
  return { head, packets }
}

const codecPrivate = 0x63a2
const simpleBlock = 0xa3

const tags = Buffer.concat([Buffer.from('OpusTags'), lengthOf('Parley'), Buffer.from('Parley'), Buffer.alloc(4)])

function lengthOf(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return length
}

// The first byte of a packet encodes the length and number of its frames.
function samplesOf(packet: Buffer): number {
  const [toc = 0, count = 1] = packet
  const mode = toc >> 3
  const frame = mode < 12 ? [480, 960, 1920, 2880][mode % 4] : mode < 16 ? [480, 960][mode % 2] : 120 << (mode % 4)
  const frames = [1, 2, 2, count & 63][toc & 3] ?? 1
  return (frame ?? 0) * frames
}

interface PageParts {
  /** 2 for the first page, 4 for the last. */
  flags: number
  /** Samples up to its end. */
  granule: bigint
  index: number
}

function pageOf(packets: readonly Buffer[], { flags, granule, index }: PageParts): Buffer {
  const laces = packets.flatMap(({ length }) => [...Array<number>(Math.floor(length / 255)).fill(255), length % 255])
  const head = Buffer.alloc(27)
  head.write('OggS')
  head.writeUInt8(flags, 5)
  head.writeBigUInt64LE(granule, 6)
  head.writeUInt32LE(0x5041, 14)
  head.writeUInt32LE(index, 18)
  head.writeUInt8(laces.length, 26)
  const page = Buffer.concat([head, Buffer.from(laces), ...packets])
  page.writeUInt32LE(checksum(page), 22)
  return page
}

const table = Array.from({ length: 256 }, (_, index) => {
  let value = index << 24
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1
  return value >>> 0
})

const checksum = (page: Buffer): number =>
  page.reduce((sum, byte) => ((sum << 8) ^ (table[(sum >>> 24) ^ byte] ?? 0)) >>> 0, 0)
