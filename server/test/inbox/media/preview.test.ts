import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { createLog } from '../../../src/base/log.ts'
import { createPreviews, hasPreview, type PreviewOptions } from '../../../src/inbox/media/preview.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'

const silent = createLog('error', { write: () => {} })

function previewsWith(options: Partial<PreviewOptions> = {}) {
  const previews = createPreviews({ log: silent, ...options })
  atEnd(() => previews.close())
  return previews
}

// A longer timeout than the product's, for busy machines.
const shared = oncePerFile(() => previewsWith({ maxMs: 120_000 }))

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(1000)
  for (let at = 0; at < bytes.length; at += piece.length) {
    // Reuses one buffer, like the code that decrypts files.
    const size = bytes.copy(piece, 0, at, at + piece.length)
    yield piece.subarray(0, size)
  }
}

const make = (bytes: Buffer, previews = shared()) => previews.create(pieces(bytes), bytes.length, 'w')

const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: '#fff', noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  })

const small = () => noise(20, 20).png().toBuffer()
const photo = () => noise(1600, 900).jpeg({ quality: 90 }).toBuffer()

for (const [name, picture] of [
  ['JPEG', photo],
  ['PNG', () => noise(900, 1600).png().toBuffer()],
  ['WebP', () => noise(1200, 1200).webp().toBuffer()],
  ['GIF', () => noise(700, 300).gif().toBuffer()],
] as const) {
  test(`a ${name} has a preview of at most 640 pixels and 60 KB, and a tiny placeholder`, async () => {
    const bytes = await picture()
    const { width, height } = await sharp(bytes).metadata()
    const preview = (await make(bytes)) ?? assert.fail('there is none')
    assert.deepEqual([preview.width, preview.height], [width, height])
    const small = await sharp(preview.webp).metadata()
    assert.equal(small.format, 'webp')
    assert.ok(Math.max(small.width, small.height) <= 640)
    assert.ok(preview.webp.length <= 60_000, `${preview.webp.length} bytes`)
    const tiny = await sharp(Buffer.from(preview.placeholder, 'base64')).metadata()
    assert.ok(tiny.format === 'jpeg' && Math.max(tiny.width, tiny.height) <= 32)
    assert.ok(preview.placeholder.length < 2_000)
  })
}

test('sizes are those of the rotated picture, and a small one is not enlarged', async () => {
  const bytes = await noise(60, 20).jpeg().withMetadata({ orientation: 6 }).toBuffer()
  const preview = (await make(bytes)) ?? assert.fail('there is none')
  assert.deepEqual([preview.width, preview.height], [20, 60])
  const small = await sharp(preview.webp).metadata()
  assert.deepEqual([small.width, small.height], [20, 60])
})

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}

/** Returns a PNG of a few KB that declares this many pixels in both directions. */
function bomb(pixels: number): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(pixels, 0)
  head.writeUInt32BE(pixels, 4)
  head[8] = 8
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const rows = deflateSync(Buffer.alloc(10_000_000))
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

for (const [name, bytes] of [
  ['a decompression bomb of 900 million pixels', bomb(30_000)],
  ['a picture with missing rows', bomb(7_000)],
  ['text', Buffer.from('hello')],
  [
    'an SVG',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'),
  ],
  ['an empty file', Buffer.alloc(0)],
] as const) {
  test(`${name} has no preview, and the next picture has one`, async () => {
    assert.equal(await make(bytes), null)
    assert.notEqual(await make(await small()), null)
  })
}

test('a truncated picture has no preview', async () => {
  const bytes = await photo()
  assert.equal(await make(bytes.subarray(0, bytes.length / 2)), null)
})

test('a decoder that takes too long or too much memory is killed, and the next picture gets a preview', async () => {
  const bytes = await photo()
  for (const limits of [{ maxMs: 1 }, { maxMemoryBytes: 1_000_000 }]) {
    assert.equal(await make(bytes, previewsWith(limits)), null, JSON.stringify(limits))
  }
  const previews = previewsWith({ maxMs: 120_000 })
  async function* broken() {
    yield bytes.subarray(0, 100)
    throw new Error('The store is away')
  }
  await assert.rejects(() => previews.create(broken(), bytes.length, 'w'), { message: 'The store is away' })
  const next = await small()
  const made = await Promise.all([make(next, previews), make(next, previews), make(next, previews)])
  assert.ok(made.every((preview) => preview !== null))
})

for (const [realType, bytes, expected] of [
  ['image/jpeg', 1_000, true],
  ['image/jpeg', 30_000_000, false],
  ['image/svg+xml', 1_000, false],
  ['image/tiff', 1_000, false],
  ['application/pdf', 1_000, false],
  [null, 1_000, false],
] as const) {
  test(`${realType} of ${bytes} bytes ${expected ? 'can' : 'cannot'} have a preview`, () => {
    assert.equal(hasPreview({ realType, bytes }), expected)
  })
}
