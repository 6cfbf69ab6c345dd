import { createHash } from 'node:crypto'
import { fileTypeFromBuffer } from 'file-type'
import type { MediaKind } from '../../channels/channel-event.ts'

/** What was told of a file before its bytes came; null what was not. */
export interface DeclaredFile {
  size: number | null
  sha256: string | null
}

/** What its bytes say. */
export interface DetectedFile {
  bytes: number
  /** In base64. */
  sha256: string
  /** By its first bytes; null for what has none that tell, such as text. */
  realType: string | null
}

/** Enough to tell documents of office programs from other archives. */
const headBytes = 65_536

export interface InspectedFile {
  bytes: AsyncGenerator<Uint8Array>
  /** For when all of it has come. */
  detected: () => Promise<DetectedFile>
  /** What its source threw. */
  failure: () => unknown
}

/** Passes a file on as it comes, and looks at it on the way. */
export function inspectFile(bytes: AsyncIterable<Uint8Array>): InspectedFile {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let [size, headSize] = [0, 0]
  let failure: unknown
  const noteFailure = (error: unknown) => {
    failure = error
  }
  async function* watched() {
    for await (const piece of withFailureCallback(bytes, noteFailure)) {
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
    detected: async () => ({
      bytes: size,
      sha256: hash.digest('base64'),
      realType: await typeOf(Buffer.concat(head)),
    }),
    failure: () => failure,
  }
}

/** The same pieces; what the source throws, rather than whoever takes them, is told as well. */
async function* withFailureCallback(
  bytes: AsyncIterable<Uint8Array>,
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
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
export function findMismatch(
  declared: DeclaredFile,
  detected: DetectedFile,
): 'hash_mismatch' | 'size_mismatch' | 'empty' | null {
  if (declared.sha256 !== null) return declared.sha256 === detected.sha256 ? null : 'hash_mismatch'
  // Nothing is what a platform answers that has lost the file, and it may well say so.
  if (detected.bytes === 0) return 'empty'
  return declared.size === null || declared.size === 0 || declared.size === detected.bytes ? null : 'size_mismatch'
}

/**
 * What a browser may show or play, by what the bytes say: nothing that could hold a script. Everything else is a download,
 * of a type that says nothing.
 */
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

/** Types that the first bytes do not tell apart: what was declared says which of them it is. */
const ambiguousTypes: Record<string, readonly string[]> = {
  'application/x-cfb': ['application/msword', 'application/vnd.ms-excel', 'application/vnd.ms-powerpoint'],
  'application/zip': [
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  'audio/x-m4a': ['audio/mp4'],
}
/** Of these a file has no bytes that tell. */
const plainTypes = ['text/plain', 'text/csv']

interface UploadFacts {
  kind: MediaKind
  /** By the bytes; null where they do not tell. */
  realType: string | null
  declared: string | null
  /** It may be a text: there is no NUL in it. */
  isText: boolean
}

/** As which of the types that a channel takes a file is sent; null when it is none of them. The bytes decide. */
export function typeToSend({ kind, realType, declared, isText }: UploadFacts, types: readonly string[]): string | null {
  const taken = (type: string | null | undefined) => (type != null && types.includes(type) ? type : null)
  if (realType === null) return isText && declared !== null && plainTypes.includes(declared) ? taken(declared) : null
  const known = taken(realType)
  if (known !== null) return known
  // A sound in a video's container.
  if (realType === 'video/mp4' && (kind === 'audio' || kind === 'voice')) return taken('audio/mp4')
  const [first, ...others] = ambiguousTypes[realType] ?? []
  if (others.length === 0) return taken(first)
  return declared !== null && [first, ...others].includes(declared) ? taken(declared) : null
}

const maxBytes = 255
/** Longer ones are no ending but a part of the name. */
const maxEndingBytes = 20
const maxRead = 1_000

/**
 * A name as it may be shown, saved and written into a header: its last part alone, without what is not seen, what turns the
 * direction of writing around, and what file systems take for something else. Null when nothing is left of it.
 */
export function safeName(declaredName: string): string | null {
  // From its end, since there is what says what it is.
  const [last = ''] = declaredName.slice(-maxRead).toWellFormed().split(/[\\/]/).slice(-1)
  const clean = last
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\uFFFD]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s/g, ' ')
  const name = cut(withoutEnds(clean))
  return name === '' ? null : name
}

/** Neither hidden nor of an ending that a system leaves out. Letter by letter: a pattern may look at each end often. */
function withoutEnds(name: string): string {
  let [start, end] = [0, name.length]
  while (start < end && '. '.includes(name.charAt(start))) start++
  while (end > start && '. '.includes(name.charAt(end - 1))) end--
  return name.slice(start, end)
}

function cut(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  const dot = name.lastIndexOf('.')
  const isEnding = dot > 0 && Buffer.byteLength(name.slice(dot)) <= maxEndingBytes
  const ending = isEnding ? name.slice(dot) : ''
  let front = ''
  let left = maxBytes - Buffer.byteLength(ending)
  for (const letter of isEnding ? name.slice(0, dot) : name) {
    left -= Buffer.byteLength(letter)
    if (left < 0) break
    front += letter
  }
  return withoutEnds(front) + ending
}
