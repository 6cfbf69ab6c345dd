import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import sharp, { type Sharp, type SharpOptions } from 'sharp'

// Separate program, started by `preview.ts`: reads pictures and writes previews.

const placeholderPixels = 32
const maxPreviewBytes = 60_000
const maxPixels = 640
/** A picture of this size takes about 256 MB if it cannot be decoded in strips. */
const limitInputPixels = 64_000_000
/** The default takes three times as long for the same size. */
const effort = 1
/** The first result within `maxPreviewBytes` is used. */
const variants = [
  { pixels: maxPixels, quality: 78 },
  { pixels: maxPixels, quality: 50 },
  { pixels: maxPixels, quality: 25 },
  { pixels: 320, quality: 25 },
]

const options: SharpOptions = { limitInputPixels, failOn: 'error', sequentialRead: true, animated: false }

// Other formats have less reviewed decoders, or decoders that execute what they read.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
  ],
})
sharp.cache(false)
sharp.concurrency(1)
lowerPriority()

for await (const picture of pictures()) {
  const { head, webp } = await preview(picture)
  await write(Buffer.from(JSON.stringify(head)))
  await write(webp)
}

/** Makes this process the first to suffer when memory or CPU time is short. */
function lowerPriority(): void {
  try {
    setPriority(10)
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Not available on every system.
  }
}

async function preview(picture: Buffer) {
  try {
    const { autoOrient } = await sharp(picture, options).metadata()
    // Decodes the large picture once and derives everything from the reduced copy.
    const { data, info } = await sharp(picture, options)
      .autoOrient()
      .resize({ width: maxPixels, height: maxPixels, fit: 'inside', withoutEnlargement: true })
      .raw()
      .toBuffer({ resolveWithObject: true })
    const { width, height, channels } = info
    const open = () => sharp(data, { raw: { width, height, channels } })
    const webp = await encodeToFit(open)
    const placeholder = await open()
      .resize({ width: placeholderPixels, height: placeholderPixels, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: 40 })
      .toBuffer()
    return {
      head: { width: autoOrient.width, height: autoOrient.height, placeholder: placeholder.toString('base64') },
      webp,
    }
  } catch {
    return { head: null, webp: Buffer.alloc(0) }
  }
}

async function encodeToFit(open: () => Sharp): Promise<Buffer> {
  for (const { pixels, quality } of variants) {
    const webp = await open()
      .resize({ width: pixels, height: pixels, fit: 'inside', withoutEnlargement: true })
      .webp({ quality, effort })
      .toBuffer()
    if (webp.length <= maxPreviewBytes) return webp
  }
  throw new RangeError('No preview is small enough')
}

async function* pictures(): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let size = 0
  for await (const piece of process.stdin) {
    pieces.push(piece as Buffer)
    size += (piece as Buffer).length
    while (size >= 4) {
      if ((pieces[0]?.length ?? 0) < 4) pieces = [Buffer.concat(pieces)]
      const frameBytes = 4 + (pieces[0]?.readUInt32BE(0) ?? 0)
      if (size < frameBytes) break
      const all = Buffer.concat(pieces)
      yield all.subarray(4, frameBytes)
      pieces = [Buffer.from(all.subarray(frameBytes))]
      size -= frameBytes
    }
  }
}

function write(frame: Buffer): Promise<void> {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(frame.length)
  return new Promise((resolve, reject) => {
    process.stdout.write(Buffer.concat([length, frame]), (error) => (error ? reject(error) : resolve()))
  })
}
