import type { MediaKind, UploadLimits } from '../../data/inbox/types.ts'

/** How a file is sent, or why it cannot be. */
export type FileDecision =
  | { kind: MediaKind; type: string }
  | { refused: 'type' | 'empty' }
  | { refused: 'size'; bytes: number }

interface ChosenFile {
  name: string
  type: string
  size: number
}

const typesByExtension: Readonly<Record<string, string>> = {
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

/** MIME types that browsers and platforms name differently. */
const typeAliases: Readonly<Record<string, string>> = {
  'audio/mp3': 'audio/mpeg',
  'audio/m4a': 'audio/mp4',
  'audio/x-m4a': 'audio/mp4',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
}

/** Returns the type from the browser, otherwise from the file extension. */
export function typeOf({ name, type }: Pick<ChosenFile, 'name' | 'type'>): string {
  const declared = type.split(';')[0]?.trim().toLowerCase() ?? ''
  if (declared !== '' && declared !== 'application/octet-stream') return typeAliases[declared] ?? declared
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return typesByExtension[ending] ?? 'application/octet-stream'
}

/**
 * Decides how a file is sent: as its own kind if the channel accepts that, otherwise as a document, which allows more
 * types and sizes. Reports the refusal of its own kind.
 */
export function decideFile(file: ChosenFile, limits: Pick<UploadLimits, 'kinds'>): FileDecision {
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
