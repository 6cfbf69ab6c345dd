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
