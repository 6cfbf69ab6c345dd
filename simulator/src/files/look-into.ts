import { unprocessable } from '../../../server/src/base/errors.ts'
import type { Platform } from '../platform.ts'
import { bytesOf, type FileStore, type FileTold, headOf, type StoredFile, TooManyBytes } from './file-store.ts'
import { oggOfWebm } from './ogg-of-webm.ts'

const headBytes = 64 * 1024
const maxNoteBytes = 16 * 1024 * 1024

/** Width and height of a picture by its first bytes; null of what is none that phones take. */
export function sizeOfPicture(head: Buffer): { width: number; height: number } | null {
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

/** Adds what a phone tells of a file that somebody has brought from a disk. */
export function withSize(file: StoredFile): StoredFile {
  const size = file.mimeType.startsWith('image/') ? sizeOfPicture(headOf(file, headBytes)) : null
  return Object.assign(file, size ?? {})
}

/**
 * A voice note as phones send it, of what a browser has recorded: that is Ogg in one browser, and WebM in others. Another
 * sound stays what it is.
 */
export async function asVoiceNote(store: FileStore, file: StoredFile): Promise<StoredFile> {
  if (!/^(audio|video)\/webm\b/.test(file.mimeType) || file.size > maxNoteBytes) return file
  const note = oggOfWebm(Buffer.concat(await bytesOf(file).toArray()))
  if (note === null) return file
  const told: FileTold = {
    mimeType: 'audio/ogg; codecs=opus',
    name: null,
    seconds: Math.max(1, Math.round(note.seconds)),
  }
  store.remove(file.id)
  return store.add(file.numberId, note.bytes, told)
}

/** As much as the platform takes of any kind. */
const maxBytes = 100 * 1024 * 1024

interface Brought {
  /** The stream of a body; anything else is none. */
  body: unknown
  type: string
  name?: string | null | undefined
  isVoice?: boolean | undefined
}

/** Takes a file that somebody brings as the body of a request. */
export async function takeFile(
  { files }: Platform,
  numberId: string,
  { body, type: mimeType, name = null, isVoice = false }: Brought,
): Promise<StoredFile> {
  if (!isStream(body)) throw unprocessable('Send the bytes of the file as application/octet-stream')
  try {
    const file = await files.take(numberId, body, { mimeType, name }, maxBytes)
    return isVoice ? await asVoiceNote(files, file) : withSize(file)
  } catch (error) {
    if (error instanceof TooManyBytes) throw unprocessable('A file may have at most 100 MB')
    throw error
  }
}

/** Whether a body comes as it is, unread. */
const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body
