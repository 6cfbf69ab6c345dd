import type { StoredFile } from './file-store.ts'

/** File as a phone shows it: a stored one, or a link. */
export interface ShownFile {
  id: string | null
  link: string | null
  kind: FileKind
  mimeType: string | null
  name: string | null
  size: number | null
  width: number | null
  height: number | null
  seconds: number | null
}

export const fileKinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const
export type FileKind = (typeof fileKinds)[number]

export const isFileKind = (kind: string): kind is FileKind => (fileKinds as readonly string[]).includes(kind)

export const shownFile = (kind: FileKind, file: StoredFile, name: string | null = file.name): ShownFile => ({
  id: file.id,
  link: null,
  kind,
  mimeType: file.mimeType,
  name,
  size: file.size,
  width: file.width ?? null,
  height: file.height ?? null,
  seconds: file.seconds ?? null,
})

/** A real phone would load the link; this one loads nothing from other hosts. */
export const shownLink = (kind: FileKind, link: string, name: string | null): ShownFile => {
  const unknown = { id: null, mimeType: null, size: null, width: null, height: null, seconds: null }
  return { ...unknown, kind, link, name }
}

export interface Place {
  latitude: number
  longitude: number
  name?: string
  address?: string
}

/** Contact in a message. */
export interface Card {
  name: string
  /** Digits with country code. */
  phones: string[]
  organisation?: string
  emails?: string[]
}

const names: Record<FileKind, string> = {
  image: '📷 Photo',
  video: '🎬 Video',
  audio: '🎵 Audio',
  voice: '🎤 Voice message',
  document: '📄 Document',
  sticker: '🏷️ Sticker',
}

/** Returns the text that represents a file in lists. */
export const describeFile = (kind: FileKind, words: string | null): string =>
  words ? `${names[kind]} · ${words}` : names[kind]

/** Returns the message fields for a file. */
export const fileMessageFields = (
  file: StoredFile,
  kind: FileKind,
  words: string,
  name: string | null = file.name,
) => ({
  kind,
  text: describeFile(kind, words || name),
  file: shownFile(kind, file, name),
  caption: words === '' ? null : words,
})
