import { readFileSync } from 'node:fs'
import { chart, drawPng, page, smallPdf } from './drawings.ts'
import type { FileStore, FileTold, StoredFile } from './file-store.ts'

interface Made {
  bytes: () => Buffer
  told: FileTold
}

const made = (name: string) => () => readFileSync(new URL(`made/${name}`, import.meta.url))
const melody = Array.from({ length: 64 }, (_, index) => Math.round(25 + 70 * Math.abs(Math.sin(index * 0.39)) ** 2))
const voiceTold = { mimeType: 'audio/ogg; codecs=opus', name: null, seconds: 4, waveform: melody }

/** What there is for who has no file at hand. */
const things = {
  photo: {
    bytes: made('photo.jpg'),
    told: { mimeType: 'image/jpeg', name: null, width: 960, height: 720, thumbnail: made('photo-tiny.jpg')() },
  },
  chart: {
    bytes: () => drawPng(chart, 800, 600),
    told: { mimeType: 'image/png', name: null, width: 800, height: 600 },
  },
  page: {
    bytes: () => drawPng(page, 620, 877),
    told: { mimeType: 'image/png', name: null, width: 620, height: 877 },
  },
  clip: { bytes: made('clip.mp4'), told: { mimeType: 'video/mp4', name: null, width: 320, height: 240, seconds: 3 } },
  voice: { bytes: made('voice.ogg'), told: voiceTold },
  sticker: {
    bytes: made('sticker.webp'),
    told: { mimeType: 'image/webp', name: null, width: 512, height: 512 },
  },
  pdf: {
    bytes: () =>
      smallPdf('Receipt 1042', [
        'Two lamps        60.00',
        'One rug          25.00',
        'Delivery          0.00',
        '',
        'Total            85.00',
      ]),
    told: { mimeType: 'application/pdf', name: 'receipt.pdf' },
  },
} satisfies Record<string, Made>

export const readyMadeNames = ['photo', 'chart', 'page', 'clip', 'voice', 'sticker', 'pdf'] as const
export type ReadyMade = (typeof readyMadeNames)[number]

const known = new Map<ReadyMade, Buffer>()

/** Puts a ready-made thing into the store; their bytes are made once. */
export function addReadyMade(store: FileStore, numberId: string, name: ReadyMade, fileName?: string): StoredFile {
  const { bytes, told } = things[name] satisfies Made
  const all = known.get(name) ?? bytes()
  known.set(name, all)
  return store.add(numberId, all, fileName === undefined ? told : { ...told, name: fileName })
}
