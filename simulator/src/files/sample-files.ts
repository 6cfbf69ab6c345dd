import { readFileSync } from 'node:fs'
import type { FileMetadata, FileStore, StoredFile } from './file-store.ts'

const bytesOf = (file: string): Buffer => readFileSync(new URL(`samples/${file}`, import.meta.url))
const melody = Array.from({ length: 64 }, (_, index) => Math.round(25 + 70 * Math.abs(Math.sin(index * 0.39)) ** 2))
const photo = { width: 960, height: 720, thumbnail: bytesOf('photo-tiny.jpg') }

/** Ready-made files, for users who have none at hand. */
const readyMadeFiles = {
  photo: [bytesOf('photo.jpg'), { mimeType: 'image/jpeg', name: null, ...photo }],
  chart: [bytesOf('chart.png'), { mimeType: 'image/png', name: null, width: 800, height: 600 }],
  page: [bytesOf('page.png'), { mimeType: 'image/png', name: null, width: 620, height: 877 }],
  clip: [bytesOf('clip.mp4'), { mimeType: 'video/mp4', name: null, width: 320, height: 240, seconds: 3 }],
  voice: [bytesOf('voice.ogg'), { mimeType: 'audio/ogg; codecs=opus', name: null, seconds: 4, waveform: melody }],
  sticker: [bytesOf('sticker.webp'), { mimeType: 'image/webp', name: null, width: 512, height: 512 }],
  pdf: [bytesOf('receipt.pdf'), { mimeType: 'application/pdf', name: 'receipt.pdf' }],
} satisfies Record<string, [bytes: Buffer, told: FileMetadata]>

export type ReadyMade = keyof typeof readyMadeFiles
export const readyMadeNames = Object.keys(readyMadeFiles) as ReadyMade[]

/** Adds a ready-made file to the store. */
export function addReadyMade(store: FileStore, numberId: string, name: ReadyMade, fileName?: string): StoredFile {
  const [bytes, told] = readyMadeFiles[name]
  return store.add(numberId, bytes, fileName === undefined ? told : { ...told, name: fileName })
}
