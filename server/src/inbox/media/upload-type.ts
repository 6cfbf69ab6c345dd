import type { MediaKind } from '../../channels/channel-event.ts'

/** Types that the first bytes do not tell apart: what was declared says which of them it is. */
const alike: Record<string, readonly string[]> = {
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

export interface UploadLook {
  kind: MediaKind
  /** By the bytes; null where they do not tell. */
  realType: string | null
  declared: string | null
  /** It may be a text: there is no NUL in it. */
  isText: boolean
}

/** As which of the types that a channel takes a file is sent; null when it is none of them. The bytes decide. */
export function typeToSend({ kind, realType, declared, isText }: UploadLook, types: readonly string[]): string | null {
  const taken = (type: string | null | undefined) => (type != null && types.includes(type) ? type : null)
  if (realType === null) return isText && declared !== null && plainTypes.includes(declared) ? taken(declared) : null
  const known = taken(realType)
  if (known !== null) return known
  // A sound in a video's container.
  if (realType === 'video/mp4' && (kind === 'audio' || kind === 'voice')) return taken('audio/mp4')
  const [first, ...others] = alike[realType] ?? []
  if (others.length === 0) return taken(first)
  return declared !== null && [first, ...others].includes(declared) ? taken(declared) : null
}
