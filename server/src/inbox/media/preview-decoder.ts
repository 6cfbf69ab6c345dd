import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import sharp, { type Sharp, type SharpOptions } from 'sharp'

// A program of its own, started by `preview.ts`: pictures come in, previews go out.

const placeholderPixels = 32
const maxPreviewBytes = 60_000
const maxPixels = 640
/** A picture of so many takes some 256 MB where it cannot be read in strips. */
const limitInputPixels = 64_000_000
/** The usual one takes three times as long for the same size. */
const effort = 1
/** The first that is small enough is taken. */
const forms = [
  { pixels: maxPixels, quality: 78 },
  { pixels: maxPixels, quality: 50 },
  { pixels: maxPixels, quality: 25 },
  { pixels: 320, quality: 25 },
]

const options: SharpOptions = { limitInputPixels, failOn: 'error', sequentialRead: true, animated: false }

// Other formats have decoders that few have looked at, or that run what they read.
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

/** When memory or time are short, it is this process that goes without. */
function lowerPriority(): void {
  try {
    setPriority(10)
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Not every system has it.
  }
}

async function preview(picture: Buffer) {
  try {
    const { autoOrient } = await sharp(picture, options).metadata()
    // Read once: what is large takes its time, and the rest is made of what is small.
    const { data, info } = await sharp(picture, options)
      .autoOrient()
      .resize({ width: maxPixels, height: maxPixels, fit: 'inside', withoutEnlargement: true })
      .raw()
      .toBuffer({ resolveWithObject: true })
    const { width, height, channels } = info
    const open = () => sharp(data, { raw: { width, height, channels } })
    const webp = await encodeToFit(open)
    const tiny = await open()
      .resize({ width: placeholderPixels, height: placeholderPixels, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: 40 })
      .toBuffer()
    return { head: { width: autoOrient.width, height: autoOrient.height, placeholder: tiny.toString('base64') }, webp }
  } catch {
    return { head: null, webp: Buffer.alloc(0) }
  }
}

async function encodeToFit(open: () => Sharp): Promise<Buffer> {
  for (const { pixels, quality } of forms) {
    const webp = await open()
      .resize({ width: pixels, height: pixels, fit: 'inside', withoutEnlargement: true })
      .webp({ quality, effort })
      .toBuffer()
    if (webp.length <= maxPreviewBytes) return webp
  }
  throw new RangeError('No form of it is small enough')
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
