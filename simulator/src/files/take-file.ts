import { unprocessable } from '../../../server/src/base/errors.ts'
import type { Platform } from '../platform.ts'
import { type StoredFile, TooManyBytes } from './file-store.ts'
import { asVoiceNote, withSize } from './look-into.ts'

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
export const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body
