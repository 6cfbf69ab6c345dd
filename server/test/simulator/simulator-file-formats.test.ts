import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { shiftedClock, systemClock } from '../../src/base/clock.ts'
import { chart, drawPng } from '../../src/simulator/files/drawings.ts'
import { bytesOf, createFileStore, TooManyBytes } from '../../src/simulator/files/file-store.ts'
import { sizeOfPicture } from '../../src/simulator/files/look-into.ts'
import { boundaryOf, gather, MalformedForm, readParts } from '../../src/simulator/files/multipart.ts'
import { oggOfWebm } from '../../src/simulator/files/ogg-of-webm.ts'
import { addReadyMade, readyMadeNames } from '../../src/simulator/files/ready-made.ts'

const form = Buffer.from(
  'before\r\n--abc\r\nContent-Disposition: form-data; name="type"\r\n\r\nimage/png\r\n' +
    '--abc\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n' +
    'bytes\r\n--ab and more\r\n\r\n--abc--\r\nafter',
)

async function* inChunks(bytes: Buffer, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function partsOf(bytes: Buffer, chunk: number) {
  const parts: object[] = []
  for await (const { body, ...head } of readParts(inChunks(bytes, chunk), 'abc')) {
    parts.push({ ...head, text: (await gather(body)).toString() })
  }
  return parts
}

test('a form reads the same wherever it is cut', async () => {
  const whole = await partsOf(form, form.length)
  assert.deepEqual(whole, [
    { name: 'type', fileName: null, type: null, text: 'image/png' },
    { name: 'file', fileName: 'a.png', type: 'image/png', text: 'bytes\r\n--ab and more\r\n' },
  ])
  for (let chunk = 1; chunk < form.length; chunk += 1) assert.deepEqual(await partsOf(form, chunk), whole)
})

test('a part that nobody reads is passed over, and a form that is cut short says so', async () => {
  const names: string[] = []
  for await (const { name } of readParts(inChunks(form, 7), 'abc')) names.push(name)
  assert.deepEqual(names, ['type', 'file'])
  for (const length of [0, 3, 40, 100, form.length - 15]) {
    await assert.rejects(partsOf(form.subarray(0, length), 9), MalformedForm)
  }
})

test('the boundary of a form is read with quotes and without', () => {
  assert.equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc')
  assert.equal(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"'), 'a b')
  for (const type of ['multipart/form-data', 'text/plain; boundary=abc', '']) assert.equal(boundaryOf(type), null)
})

const clock = shiftedClock(systemClock)

test('every ready-made thing is what it says, and small', () => {
  const store = createFileStore(clock)
  const signatures: Record<string, RegExp> = {
    'image/jpeg': /^\xff\xd8/,
    'image/png': /^\x89PNG/,
    'image/webp': /^RIFF....WEBP/s,
    'video/mp4': /^....ftyp/s,
    'audio/ogg; codecs=opus': /^OggS/,
    'application/pdf': /^%PDF/,
  }
  for (const name of readyMadeNames) {
    const { mimeType, kept, width, height, size } = addReadyMade(store, 'n', name)
    assert.ok(Buffer.isBuffer(kept))
    assert.match(kept.toString('latin1', 0, 16), signatures[mimeType] ?? /never/)
    assert.ok(size < 60_000, `${name}: ${size}`)
    const told = sizeOfPicture(kept)
    if (told !== null) assert.deepEqual(told, { width, height })
  }
})

test('a drawing is a PNG of the colours that it names; what is no picture, or is cut, has no size', () => {
  const png = drawPng(chart, 80, 60)
  assert.deepEqual(sizeOfPicture(png), { width: 80, height: 60 })
  const length = png.readUInt32BE(33)
  const rows = inflateSync(png.subarray(41, 41 + length))
  assert.equal(rows.length, 60 * (80 * 3 + 1))
  const at = (x: number, y: number) => [...rows.subarray(y * 241 + 1 + x * 3, y * 241 + 4 + x * 3)]
  assert.deepEqual(at(0, 0), [255, 255, 255])
  assert.deepEqual(at(69, 45), [242, 198, 107])
  const cut = [Buffer.from('\x89PNG', 'latin1'), Buffer.from([0xff, 0xd8])]
  for (const bytes of [Buffer.alloc(0), Buffer.from('text'), ...cut]) assert.equal(sizeOfPicture(bytes), null)
})

const element = (id: number[], ...data: Buffer[]) => {
  const body = Buffer.concat(data)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(body.length))
  size[0] = 1
  return Buffer.concat([Buffer.from(id), size, body])
}
const unknownSize = Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
const head = Buffer.concat([Buffer.from('OpusHead'), Buffer.from([1, 1, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0])])
// One frame of 20 ms each.
const packet = (length: number) => Buffer.concat([Buffer.from([0x78]), Buffer.alloc(length, 7)])
const block = (bytes: Buffer) => element([0xa3], Buffer.from([0x81, 0, 0, 0x80]), bytes)

test('a note of a browser becomes Ogg with the same packets, as long as they are', () => {
  const tracks = element([0x16, 0x54, 0xae, 0x6b], element([0xae], element([0x63, 0xa2], head)))
  const packets = Array.from({ length: 120 }, (_, index) => packet(100 + index * 3))
  const cluster = Buffer.concat([Buffer.from([0x1f, 0x43, 0xb6, 0x75]), unknownSize, ...packets.map(block)])
  const webm = Buffer.concat([
    element([0x1a, 0x45, 0xdf, 0xa3], Buffer.from('webm')),
    Buffer.concat([Buffer.from([0x18, 0x53, 0x80, 0x67]), unknownSize]),
    tracks,
    cluster,
  ])
  const ogg = oggOfWebm(webm)
  assert.ok(ogg)
  assert.equal(ogg.seconds, 2.4)
  const pages = ogg.bytes.toString('latin1').split('OggS').length - 1
  assert.equal(pages, 5)
  for (const one of packets) assert.ok(ogg.bytes.includes(one))
  assert.deepEqual([ogg.bytes[5], ogg.bytes.subarray(28, 36).toString()], [2, 'OpusHead'])
})

test('what is no WebM with Opus is left alone', () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('text'), Buffer.alloc(1000), element([0xa3], packet(5))]) {
    assert.equal(oggOfWebm(bytes), null)
  }
})

test('a file that is too long is kept nowhere, and what is removed is gone', async () => {
  const store = createFileStore(clock)
  const told = { mimeType: 'text/plain', name: null }
  const bytes = Buffer.from('0123456789')
  await assert.rejects(store.take('n', inChunks(bytes, 3), told, 9), TooManyBytes)
  const file = await store.take('n', inChunks(bytes, 3), told, 10)
  assert.deepEqual(Buffer.concat(await bytesOf(file).toArray()), bytes)
  assert.deepEqual(Buffer.concat(await bytesOf(file, 2, 3).toArray()).toString(), '23')
  assert.equal(store.find(file.id), file)
  store.remove(file.id)
  assert.equal(store.find(file.id), undefined)
  store.stop()
})
