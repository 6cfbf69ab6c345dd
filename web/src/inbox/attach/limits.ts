import type { MediaKind, UploadLimits } from '../../data/inbox/types.ts'

/** What a chosen file is sent as, or why it cannot be. */
export type Fit = { kind: MediaKind; type: string } | { refused: 'type' | 'empty' } | { refused: 'size'; bytes: number }

interface Chosen {
  name: string
  type: string
  size: number
}

const ofEndings: Readonly<Record<string, string>> = {
  '3gp': 'video/3gpp',
  csv: 'text/csv',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  pdf: 'application/pdf',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  txt: 'text/plain',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

/** What browsers call otherwise than the platforms do. */
const sameAs: Readonly<Record<string, string>> = {
  'audio/mp3': 'audio/mpeg',
  'audio/m4a': 'audio/mp4',
  'audio/x-m4a': 'audio/mp4',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
}

/** By what the browser says, else by the ending of its name. */
export function typeOf({ name, type }: Pick<Chosen, 'name' | 'type'>): string {
  const declared = type.split(';')[0]?.trim().toLowerCase() ?? ''
  if (declared !== '' && declared !== 'application/octet-stream') return sameAs[declared] ?? declared
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return ofEndings[ending] ?? 'application/octet-stream'
}

/**
 * What a file goes as: as what it is where the channel takes it so, else as a document, which takes more types and more
 * bytes. Of the refusals that of its own kind is told.
 */
export function fitOf(file: Chosen, limits: Pick<UploadLimits, 'kinds'>): Fit {
  if (file.size === 0) return { refused: 'empty' }
  const type = typeOf(file)
  const [family] = type.split('/')
  const own = family === 'image' || family === 'video' || family === 'audio' ? family : 'document'
  const rules = (own === 'document' ? [own] : [own, 'document']).flatMap((kind) =>
    limits.kinds.filter((one) => one.kind === kind && accepts(one.types, type)),
  )
  const rule = rules.find(({ bytes }) => file.size <= bytes)
  if (rule !== undefined) return { kind: rule.kind, type }
  const maxBytes = Math.max(...rules.map(({ bytes }) => bytes))
  return rules.length === 0 ? { refused: 'type' } : { refused: 'size', bytes: maxBytes }
}

export const accepts = (types: readonly string[], type: string): boolean =>
  types.some((one) => one === type || one === '*/*' || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))
