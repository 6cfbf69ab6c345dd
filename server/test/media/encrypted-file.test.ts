import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type ByteRange,
  decryptFile,
  encryptFile,
  FileDecryptionError,
  type FileKey,
} from '../../src/media/encrypted-file.ts'

const chunk = 65_536
const storedChunk = chunk + 16
const id = '019a0000-0000-7000-8000-000000000001'

/** Boundary sizes: empty, small, and one byte below and above a chunk boundary. */
const sizes = [0, 1, 2, 40, chunk - 1, chunk, chunk + 1, 2 * chunk - 1, 2 * chunk, 3 * chunk + 17]

async function* parts(bytes: Uint8Array, partBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
}

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = []
  for await (const piece of pieces) read.push(Buffer.from(piece))
  return Buffer.concat(read)
}

async function sealed(plain: Uint8Array, partBytes = 10_007): Promise<{ secret: FileKey; stored: Buffer }> {
  const { key, stored } = encryptFile(id, parts(plain, partBytes))
  return { secret: { id, key, bytes: plain.length }, stored: await all(stored) }
}

function opened(secret: FileKey, stored: Uint8Array, range?: ByteRange, partBytes = 9_973): Promise<Buffer> {
  const whole = { start: 0, end: secret.bytes }
  return all(
    decryptFile(secret, range ?? whole, async (start, end) =>
      parts(stored.subarray(start, end ?? undefined), partBytes),
    ),
  )
}

test('a file of any size is restored unchanged, whatever its chunks', async () => {
  for (const size of sizes) {
    const plain = randomBytes(size)
    for (const partBytes of [7, 4096, chunk, storedChunk, 1_000_000].filter((bytes) => bytes > 100 || size < 100)) {
      const { secret, stored } = await sealed(plain, partBytes)
      assert.deepEqual(await opened(secret, stored, undefined, partBytes), plain, `${size} in parts of ${partBytes}`)
    }
  }
})

test('every range returns its bytes and reads only the chunks it needs', async () => {
  const plain = randomBytes(3 * chunk + 17)
  const { secret, stored } = await sealed(plain)
  const edges = fc.oneof(
    fc.integer({ min: 0, max: plain.length }),
    fc.constantFrom(0, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk, plain.length - 1, plain.length),
  )
  const property = fc.asyncProperty(edges, edges, async (one, other) => {
    const range = { start: Math.min(one, other), end: Math.max(one, other) }
    let asked = 0
    const read = async (start: number, end: number | null) => {
      const part = stored.subarray(start, end ?? undefined)
      asked += part.length
      return parts(part, 9_973)
    }
    assert.deepEqual(await all(decryptFile(secret, range, read)), plain.subarray(range.start, range.end))
    assert.ok(asked <= range.end - range.start + 2 * storedChunk, `${asked} bytes read`)
  })
  await fc.assert(property, { numRuns: 100 })
  for (const [start, end] of [
    [-1, 3],
    [4, 3],
    [0, plain.length + 1],
  ] as const) {
    await assert.rejects(opened(secret, stored, { start, end }), RangeError)
  }
})

test('an altered byte anywhere in a small file, and a wrong size, are detected', async () => {
  for (const size of [0, 1, 40, chunk, chunk + 1]) {
    const { secret, stored } = await sealed(randomBytes(size))
    for (let at = 0; size <= 40 && at < stored.length; at++) {
      const altered = Buffer.from(stored)
      altered[at] = (altered[at] ?? 0) ^ (1 << (at % 8))
      await assert.rejects(opened(secret, altered), FileDecryptionError, `${size} bytes, byte ${at}`)
    }
    for (const bytes of [size - 1, size + 1, size - chunk, size + chunk].filter((wrong) => wrong >= 0)) {
      await assert.rejects(opened({ ...secret, bytes }, stored), FileDecryptionError, `${size} as ${bytes}`)
    }
  }
})

test('an altered byte near a chunk boundary is detected, and no byte of that chunk is returned', async () => {
  const plain = randomBytes(2 * chunk + 100)
  const { secret, stored } = await sealed(plain)
  const borders = [0, storedChunk, 2 * storedChunk, stored.length]
  const near = borders.flatMap((border) => Array.from({ length: 41 }, (_, n) => border - 20 + n))
  for (const at of near.filter((place) => place >= 0 && place < stored.length)) {
    const altered = Buffer.from(stored)
    altered[at] = (altered[at] ?? 0) ^ 0x80
    const given: Uint8Array[] = []
    const reading = async () => {
      const whole = { start: 0, end: plain.length }
      for await (const piece of decryptFile(secret, whole, async () => parts(altered, 9_973))) given.push(piece)
    }
    await assert.rejects(reading(), FileDecryptionError, `byte ${at}`)
    assert.equal(Buffer.concat(given).length, Math.floor(at / storedChunk) * chunk)
  }
})

test('a file that was truncated or extended is detected', async () => {
  for (const size of [0, 1, 40, chunk, 2 * chunk + 100]) {
    const { secret, stored } = await sealed(randomBytes(size))
    const isSmall = stored.length < 100
    const near = [0, storedChunk, 2 * storedChunk, stored.length].flatMap((border) =>
      Array.from({ length: 35 }, (_, n) => border - 17 + n),
    )
    const lengths = isSmall ? Array.from({ length: stored.length }, (_, n) => n) : near
    for (const length of lengths.filter((bytes) => bytes >= 0 && bytes < stored.length)) {
      await assert.rejects(opened(secret, stored.subarray(0, length)), FileDecryptionError, `${size} cut to ${length}`)
    }
    for (const more of [1, 15, 16, 17, chunk, storedChunk]) {
      const longer = Buffer.concat([stored, randomBytes(more)])
      await assert.rejects(opened(secret, longer), FileDecryptionError, `${size} and ${more}`)
      if (size === 0) continue
      const tail = { start: size - 1, end: size }
      await assert.rejects(opened(secret, longer, tail), FileDecryptionError, `the end of ${size} and ${more}`)
    }
  }
})

test('exchanged, repeated or missing chunks are detected', async () => {
  const { secret, stored } = await sealed(randomBytes(3 * chunk))
  const [a, b, c] = [0, 1, 2].map((n) => stored.subarray(n * storedChunk, (n + 1) * storedChunk))
  assert.ok(a && b && c)
  const [swapped, repeated] = [
    [b, a, c],
    [a, a, c],
  ]
  for (const order of [swapped, repeated, [a, c, b], [a, b, b], [a, c], [a, b], [a, b, c, c]]) {
    await assert.rejects(opened(secret, Buffer.concat(order)), FileDecryptionError)
  }
})

test('a file decrypts only with its own name and key, and each file has its own key', async () => {
  const plain = randomBytes(chunk)
  const { secret, stored } = await sealed(plain)
  const other = await sealed(plain)
  assert.notDeepEqual(secret.key, other.secret.key)
  assert.equal(stored.indexOf(plain.subarray(0, 16)), -1)
  await assert.rejects(opened({ ...secret, id: id.replace(/1$/, '2') }, stored), FileDecryptionError)
  await assert.rejects(opened({ ...secret, key: other.secret.key }, stored), FileDecryptionError)
  await assert.rejects(opened(secret, other.stored), FileDecryptionError)
})

test('a reader that stops or fails closes the source', async () => {
  const { secret, stored } = await sealed(randomBytes(4 * chunk))
  for (const altered of [stored, Buffer.alloc(stored.length)]) {
    let isClosed = false
    const read = async () =>
      (async function* () {
        try {
          yield* parts(altered, 4096)
        } finally {
          isClosed = true
        }
      })()
    const reading = async () => {
      for await (const _piece of decryptFile(secret, { start: 0, end: secret.bytes }, read)) break
    }
    await reading().catch((error) => assert.ok(error instanceof FileDecryptionError))
    assert.ok(isClosed)
  }
})
