import { createHash } from 'node:crypto'
import type { MediaKind } from '../../channels/channel-event.ts'

/** Size and digest announced before the content; null if unknown. */
export interface DeclaredFile {
  size: number | null
  sha256: string | null
}

export interface DetectedFile {
  bytes: number
  /** Base64. */
  sha256: string
  /** Type detected from the first bytes; null for formats without a signature, such as text. */
  realType: string | null
}

/** Enough to tell office documents from other archives. */
const headBytes = 65_536

export interface InspectedFile {
  bytes: AsyncGenerator<Uint8Array>
  /** Call it after all bytes were read. */
  detected: () => Promise<DetectedFile>
  /** Returns the error that the source threw, if any. */
  failure: () => unknown
}

/** Passes the bytes through and inspects them. */
export function inspectFile(bytes: AsyncIterable<Uint8Array>): InspectedFile {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let [size, headSize] = [0, 0]
  let failure: unknown
  const noteFailure = (error: unknown) => {
    failure = error
  }
  async function* inspected() {
    for await (const piece of withFailureCallback(bytes, noteFailure)) {
      if (headSize < headBytes) {
        // Copied: the source reuses the buffer for the next chunk.
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
    bytes: inspected(),
    detected: async () => ({
      bytes: size,
      sha256: hash.digest('base64'),
      realType: await typeOf(Buffer.concat(head)),
    }),
    failure: () => failure,
  }
}

/** Passes the bytes through; reports errors of the source, as opposed to errors of the consumer. */
async function* withFailureCallback(
  bytes: AsyncIterable<Uint8Array>,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (error) {
    onFailure(error)
    throw error
  }
}

async function typeOf(head: Buffer): Promise<string | null> {
  try {
    const { fileTypeFromBuffer } = await import('file-type')
    return (await fileTypeFromBuffer(head))?.mime.split(';')[0] ?? null
  } catch {
    // A file that only starts like a known format has no type.
    return null
  }
}

/**
 * Returns why a file is not the announced one; null if it may be. A matching digest proves the file, whatever the
 * announced size. A wrong declared type is no mismatch: the file is stored with its real type.
 */
export function findMismatch(
  declared: DeclaredFile,
  detected: DetectedFile,
): 'hash_mismatch' | 'size_mismatch' | 'empty' | null {
  if (declared.sha256 !== null) return declared.sha256 === detected.sha256 ? null : 'hash_mismatch'
  // A platform that has lost a file may return an empty one and even announce it.
  if (detected.bytes === 0) return 'empty'
  return declared.size === null || declared.size === 0 || declared.size === detected.bytes ? null : 'size_mismatch'
}

/** Detected types that a browser may display or play: none can contain scripts. All others are downloads. */
export const inlineTypes: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'video/mp4',
  'audio/mp4',
  'audio/x-m4a',
  'audio/mpeg',
  'audio/aac',
  'audio/amr',
  'audio/ogg',
  'application/pdf',
]

export const downloadType = 'application/octet-stream'

export const isInlineType = (realType: string | null | undefined): realType is string =>
  typeof realType === 'string' && inlineTypes.includes(realType)

/** Types with the same signature: the declared type decides between them. */
const ambiguousTypes: Record<string, readonly string[]> = {
  'application/x-cfb': ['application/msword', 'application/vnd.ms-excel', 'application/vnd.ms-powerpoint'],
  'application/zip': [
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  'audio/x-m4a': ['audio/mp4'],
}
/** Types without a signature. */
const plainTypes = ['text/plain', 'text/csv']

interface UploadFacts {
  kind: MediaKind
  /** Detected from the content; null if unknown. */
  realType: string | null
  declared: string | null
  /** Whether it contains no NUL and thus may be text. */
  isText: boolean
}

/** Returns the type to send a file as, among those that the channel accepts; null if none fits. The content decides. */
export function typeToSend({ kind, realType, declared, isText }: UploadFacts, types: readonly string[]): string | null {
  const accepted = (type: string | null | undefined) => (type != null && types.includes(type) ? type : null)
  if (realType === null) return isText && declared !== null && plainTypes.includes(declared) ? accepted(declared) : null
  const known = accepted(realType)
  if (known !== null) return known
  // Audio in a video container.
  if (realType === 'video/mp4' && (kind === 'audio' || kind === 'voice')) return accepted('audio/mp4')
  const [first, ...others] = ambiguousTypes[realType] ?? []
  if (others.length === 0) return accepted(first)
  return declared !== null && [first, ...others].includes(declared) ? accepted(declared) : null
}

const maxBytes = 255
/** A longer extension is treated as part of the name. */
const maxExtensionBytes = 20
const maxRead = 1_000

/**
 * Returns a file name that is safe to display, save and write into a header: its last path segment without invisible or
 * bidirectional control characters and characters reserved by file systems. Null if nothing remains.
 */
export function safeName(declaredName: string): string | null {
  // Keeps the end of a long name, which has the extension.
  const [last = ''] = declaredName.slice(-maxRead).toWellFormed().split(/[\\/]/).slice(-1)
  const clean = last
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\uFFFD]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s/g, ' ')
  const name = truncate(trimDotsAndSpaces(clean))
  return name === '' ? null : name
}

/**
 * Strips leading and trailing dots and spaces, which hide files or are dropped by some systems. A loop, because a
 * regular expression may backtrack quadratically.
 */
function trimDotsAndSpaces(name: string): string {
  let [start, end] = [0, name.length]
  while (start < end && '. '.includes(name.charAt(start))) start++
  while (end > start && '. '.includes(name.charAt(end - 1))) end--
  return name.slice(start, end)
}

function truncate(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  const dot = name.lastIndexOf('.')
  const hasExtension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= maxExtensionBytes
  const extension = hasExtension ? name.slice(dot) : ''
  let front = ''
  let left = maxBytes - Buffer.byteLength(extension)
  for (const letter of hasExtension ? name.slice(0, dot) : name) {
    left -= Buffer.byteLength(letter)
    if (left < 0) break
    front += letter
  }
  return trimDotsAndSpaces(front) + extension
}
