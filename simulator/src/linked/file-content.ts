import { type Sealed, type SealedAs, type StoredFile, sealFor } from '../files/file-store.ts'
import type { FileKind } from '../files/shown-file.ts'

/** Files that messages of this network name, by the last part of their address. */
export type SealedFiles = Map<string, { file: StoredFile; sealed: Sealed }>

const maxSealed = 5_000
const sealedAs: Record<FileKind, SealedAs> = {
  image: 'Image',
  sticker: 'Image',
  video: 'Video',
  audio: 'Audio',
  voice: 'Audio',
  document: 'Document',
}

export interface FileWords {
  kind: FileKind
  caption: string
  name: string | null
}

/** A file in a message, as Baileys shapes it; what is bytes there is base64 here. Without a file it is one that is nowhere. */
export function fileContent(
  sealedFiles: SealedFiles,
  file: StoredFile | undefined,
  { kind, caption, name }: FileWords,
  contextInfo: object,
): object {
  const told = file === undefined ? {} : whereabouts(sealedFiles, kind, file)
  const size = file?.width === undefined ? {} : { width: file.width, height: file.height }
  const thumbnail = file?.thumbnail === undefined ? {} : { jpegThumbnail: file.thumbnail.toString('base64') }
  const seconds = file?.seconds === undefined ? {} : { seconds: file.seconds }
  const words = caption === '' ? {} : { caption }
  switch (kind) {
    case 'image':
      return { imageMessage: { ...told, ...size, ...thumbnail, ...words, contextInfo } }
    case 'video':
      return { videoMessage: { ...told, ...size, ...thumbnail, ...seconds, ...words, contextInfo } }
    case 'audio':
      return { audioMessage: { ...told, ...seconds, ptt: false, contextInfo } }
    case 'voice': {
      const waveform = file?.waveform === undefined ? {} : { waveform: Buffer.from(file.waveform).toString('base64') }
      return { audioMessage: { ...told, ...seconds, ...waveform, ptt: true, contextInfo } }
    }
    case 'document': {
      const documentMessage = {
        ...told,
        fileName: name ?? 'document',
        title: name ?? 'document',
        ...words,
        contextInfo,
      }
      if (caption === '') return { documentMessage }
      return { documentWithCaptionMessage: { message: { documentMessage } } }
    }
    case 'sticker':
      return { stickerMessage: { ...told, ...size, isAnimated: false, contextInfo } }
    default:
      return kind satisfies never
  }
}

function whereabouts(sealedFiles: SealedFiles, kind: FileKind, file: StoredFile): object {
  const sealed = sealFor(file, sealedAs[kind])
  sealedFiles.set(sealed.path, { file, sealed })
  const [oldest] = sealedFiles.keys()
  if (sealedFiles.size > maxSealed && oldest !== undefined) sealedFiles.delete(oldest)
  return {
    mimetype: file.mimeType,
    fileLength: file.size,
    fileSha256: file.sha256.toString('base64'),
    fileEncSha256: sealed.sealedSha256.toString('base64'),
    mediaKey: sealed.mediaKey.toString('base64'),
    mediaKeyTimestamp: Math.floor(file.addedAt.getTime() / 1000),
    directPath: `/linked/media/${sealed.path}?ccb=11-4&_nc_sid=5e03e0`,
  }
}
