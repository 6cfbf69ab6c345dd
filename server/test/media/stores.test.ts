import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type MediaStore, markName, StoreError, type StoreErrorKind, storePath } from '../../src/media/store/store.ts'
import { pieces, readAll, stores } from '../support/media/stores.ts'

const megabyte = 1024 * 1024

/** Checks for a StoreError of this kind. */
const is = (kind: StoreErrorKind) => (error: unknown) => error instanceof StoreError && error.kind === kind

/** Printing a diff of megabytes would take minutes. */
function assertSame(found: Buffer, expected: Uint8Array, what?: string): void {
  assert.equal(found.length, expected.length, what ?? '')
  assert.ok(found.equals(expected), what ?? '')
}

async function namesOf(store: MediaStore, pageSize = 1000): Promise<string[]> {
  const names: string[] = []
  for (;;) {
    const page = await store.list(names.at(-1) ?? null, pageSize)
    names.push(...page.map(({ name }) => name))
    if (page.length < pageSize) return names
  }
}

for (const [form, open] of Object.entries(stores)) {
  test(`${form}: stored files can be read, whole and in parts`, async () => {
    const { store } = await open()
    for (const size of [0, 1, 70_000, 5 * megabyte, 11 * megabyte + 3]) {
      const name = randomUUID()
      const bytes = randomBytes(size)
      assert.equal(await store.put(name, pieces(bytes)), size)
      assertSame(await readAll(store, name), bytes, `${size} bytes`)
      if (size === 0) continue
      for (const [start, end] of [
        [0, 2],
        [size - 1, null],
        [size - 1, size],
        [Math.floor(size / 3), Math.ceil(size / 2)],
        [0, size],
      ] as const) {
        assertSame(
          await readAll(store, name, start, end),
          bytes.subarray(start, end ?? size),
          `${size}: ${start}–${end}`,
        )
      }
    }
  })

  test(`${form}: invalid names are rejected by every operation`, async () => {
    const { store, putObject } = await open()
    await putObject('secret', 'another owner')
    const upper = randomUUID().toUpperCase()
    for (const name of ['secret', '../secret', '', '/etc/passwd', `${randomUUID()}/..`, upper, markName, 'a\0b']) {
      await assert.rejects(async () => store.put(name, pieces(Buffer.from('x'))), RangeError, name)
      await assert.rejects(async () => store.open(name), RangeError, name)
      await assert.rejects(async () => store.remove(name), RangeError, name)
      await assert.rejects(async () => store.list(name, 1), RangeError, name)
    }
  })

  test(`${form}: a failing source stores nothing, and the previous file stays`, async () => {
    const { store } = await open()
    const [name, other] = [randomUUID(), randomUUID()]
    const before = randomBytes(100)
    await store.put(name, pieces(before))
    const failure = new Error('the platform has hung up')
    for (const size of [0, 1000, 8 * megabyte]) {
      const bytes = randomBytes(size)
      await assert.rejects(store.put(name, pieces(bytes, failure)), failure)
      await assert.rejects(store.put(other, pieces(bytes, failure)), failure)
    }
    assertSame(await readAll(store, name), before)
    assert.deepEqual(await namesOf(store), [name])
    assert.equal(await store.deletePartialFiles(new Date(Date.now() + 1_000_000)), 0, 'nothing half written is left')
  })

  test(`${form}: a second put replaces the whole file; a removed file no longer exists`, async () => {
    const { store } = await open()
    const name = randomUUID()
    await store.put(name, pieces(randomBytes(300_000)))
    const bytes = randomBytes(200_000)
    await store.put(name, pieces(bytes))
    assertSame(await readAll(store, name), bytes)
    assert.equal((await store.list(null, 10))[0]?.bytes, 200_000)
    await store.remove(name)
    await store.remove(name)
    await assert.rejects(store.open(name), is('missing'))
    await assert.rejects(store.open(name, 10, 20), is('missing'), 'before its first byte')
    assert.deepEqual(await namesOf(store), [])
  })

  test(`${form}: a list returns every file once, in pages, and nothing that is not ours`, async () => {
    const { store, putObject } = await open()
    assert.deepEqual(await store.list(null, 10), [])
    // Some share a folder, some only the outer one.
    const shared = randomUUID()
    const likeIt = Array.from({ length: 3 }, () => randomUUID().slice(0, -4) + shared.slice(-4))
    const nearIt = Array.from({ length: 3 }, () => randomUUID().slice(0, -2) + shared.slice(-2))
    const names = [shared, ...likeIt, ...nearIt, ...Array.from({ length: 6 }, () => randomUUID())]
    const startedAt = Date.now()
    for (const name of names) await store.put(name, pieces(Buffer.from(name)))
    await putObject('ab/cd/readme.txt', 'not ours')
    await putObject(`00/00/${randomUUID().slice(0, -1)}f`, 'in the wrong place')
    await putObject('zz/file', 'not ours')

    const inOrder = names.toSorted((a, b) => (storePath(a) < storePath(b) ? -1 : 1))
    for (const pageSize of [1, 2, 5, names.length, 1000]) assert.deepEqual(await namesOf(store, pageSize), inOrder)
    const middle = inOrder[4] ?? ''
    await store.remove(middle)
    assert.deepEqual(
      await store.list(middle, 1).then(([next]) => next?.name),
      inOrder[5],
      'also behind one that is gone',
    )
    for (const { bytes, storedAt } of await store.list(null, 100)) {
      assert.equal(bytes, 36)
      assert.ok(Math.abs(storedAt.getTime() - startedAt) < 60_000)
    }
  })

  test(`${form}: the first mark stays`, async () => {
    const { store } = await open()
    assert.equal(await store.readMark(), 'a mark')
    await store.writeMark('another mark')
    assert.equal(await store.readMark(), 'a mark')
    assert.deepEqual(await namesOf(store), [])
  })

  test(`${form}: a reader that stops early does not block others`, async () => {
    const { store } = await open()
    const name = randomUUID()
    const bytes = randomBytes(2 * megabyte)
    await store.put(name, pieces(bytes))
    for (let time = 0; time < 60; time++) {
      for await (const _part of await store.open(name)) break
    }
    assertSame(await readAll(store, name), bytes)
  })
}
