import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFolderStore } from '../../src/media/store/folder-store.ts'
import { StoreError, storePath } from '../../src/media/store/store.ts'
import { memoryDisk } from '../support/faults/disks.ts'
import { newFolder } from '../support/folder.ts'
import { pieces, readAll } from '../support/media/stores.ts'

const isProblem = (kind: string, words: RegExp) => (error: unknown) =>
  error instanceof StoreError && error.kind === kind && words.test(error.message)

for (const what of ['full', 'read-only'] as const) {
  test(`a disk that is ${what} is reported, keeps no partial files, and can still be read`, async (t) => {
    const disk = await memoryDisk(1)
    if (disk === null) return t.skip('this user may mount nothing')
    const store = openFolderStore(disk.folder)
    await store.writeMark('a mark')
    const [kept, bytes] = [randomUUID(), randomBytes(300_000)]
    await store.put(kept, pieces(bytes))
    if (what === 'read-only') spawnSync('mount', ['-o', 'remount,ro', disk.folder])
    const problem =
      what === 'full'
        ? isProblem('full', /^The media folder \S+ is full \(ENOSPC\): free up disk space$/)
        : isProblem('refused', /cannot be accessed \(EROFS\): allow the service user to read and write it$/)
    await assert.rejects(store.put(randomUUID(), pieces(randomBytes(2_000_000))), problem)
    if (what === 'read-only') await assert.rejects(store.remove(kept), problem)
    assert.deepEqual(await readdir(join(disk.folder, 'drafts')), [])
    assert.ok((await readAll(store, kept)).equals(bytes))
    if (what === 'full') assert.equal(await store.put(randomUUID(), pieces(randomBytes(400_000))), 400_000)
  })
}

test('a folder whose disk is no longer mounted accepts no files, even from a process that used it', async () => {
  const root = join(await newFolder(), 'media')
  const store = openFolderStore(root)
  const refused = (error: unknown) => error instanceof StoreError && error.kind === 'refused'
  await assert.rejects(store.put(randomUUID(), pieces(Buffer.from('x'))), refused)
  await store.writeMark('a mark')
  const name = randomUUID()
  await store.put(name, pieces(Buffer.from('kept')))

  await rename(root, `${root}-elsewhere`)
  await mkdir(root)
  await assert.rejects(store.put(randomUUID(), pieces(Buffer.from('x'))))
  await assert.rejects(store.put(randomUUID(), pieces(Buffer.from('x'))), /check that its disk is mounted/)
  assert.deepEqual(await readdir(root), [])
  await rename(`${root}-elsewhere`, `${root}`).catch(() => undefined)
  assert.deepEqual(await readAll(store, name), Buffer.from('kept'))
})

test('partial files of dead writers are deleted, and files being written stay', async () => {
  const root = await newFolder()
  const store = openFolderStore(root)
  await store.writeMark('a mark')
  const [old, young] = [`${randomUUID()}.0123456789ab`, `${randomUUID()}.0123456789ac`]
  for (const draft of [old, young]) await writeFile(join(root, 'drafts', draft), 'half')
  const yesterday = new Date(Date.now() - 86_400_000)
  await utimes(join(root, 'drafts', old), yesterday, yesterday)
  assert.equal(await store.deletePartialFiles(new Date(Date.now() - 3_600_000)), 1)
  assert.deepEqual(await readdir(join(root, 'drafts')), [young])
  assert.deepEqual(await store.list(null, 10), [])
})

test('files are private to the user, in folders by the end of their names', async () => {
  const root = join(await newFolder(), 'media')
  const store = openFolderStore(root)
  await store.writeMark('a mark')
  const name = '019a0000-0000-7000-8000-00000000c0de'
  await store.put(name, pieces(Buffer.from('x')))
  assert.equal(storePath(name), `de/c0/${name}`)
  const modes = await Promise.all(['', 'de', 'de/c0', storePath(name)].map((path) => stat(join(root, path))))
  assert.deepEqual(
    modes.map(({ mode }) => mode & 0o777),
    [0o700, 0o700, 0o700, 0o600],
  )
})
