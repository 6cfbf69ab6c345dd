import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openFolderStore } from '../../src/media/store/folder-store.ts'
import { pathOf, StoreProblem } from '../../src/media/store/store.ts'
import { newFolder } from '../support/folder.ts'
import { pieces, readAll } from '../support/media/stores.ts'

const program = fileURLToPath(new URL('../support/media/on-small-disk.ts', import.meta.url))

/** Runs the program on a disk of its own, of one megabyte. Null where this user may not have one. */
async function onSmallDisk(what: string, t: TestContext): Promise<Record<string, unknown> | null> {
  const folder = await newFolder()
  const script = `mount -t tmpfs -o size=1m tmpfs ${folder} && exec ${process.execPath} ${program} ${folder} ${what}`
  if (spawnSync('unshare', ['-rm', 'true']).status !== 0) {
    t.skip('this user may mount nothing')
    return null
  }
  const { status, stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', script], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

const onDisk = {
  full: {
    problem: 'full',
    message: 'The media folder FOLDER is full (ENOSPC): make room on its disk',
    drafts: [],
    stillReads: true,
    takesAgain: true,
  },
  'read-only': {
    problem: 'refused',
    message: 'The media folder FOLDER may not be read or written (EROFS): let the user of the service write there',
    removal: 'refused',
    drafts: [],
    stillReads: true,
  },
}
for (const [what, expected] of Object.entries(onDisk)) {
  test(`a disk that is ${what} is said to be, leaves no rubbish, and is read from all the same`, async (t) => {
    const seen = await onSmallDisk(what, t)
    if (seen !== null) assert.deepEqual(seen, expected)
  })
}

test('a folder whose disk is no longer mounted takes no files, not even of a process that knew it', async () => {
  const root = join(await newFolder(), 'media')
  const store = openFolderStore(root)
  const refused = (error: unknown) => error instanceof StoreProblem && error.kind === 'refused'
  await assert.rejects(store.put(randomUUID(), pieces(Buffer.from('x'))), refused)
  await store.writeMark('a mark')
  const name = randomUUID()
  await store.put(name, pieces(Buffer.from('kept')))

  await rename(root, `${root}-elsewhere`)
  await mkdir(root)
  await assert.rejects(store.put(randomUUID(), pieces(Buffer.from('x'))))
  await assert.rejects(store.put(randomUUID(), pieces(Buffer.from('x'))), /is its disk mounted\?/)
  assert.deepEqual(await readdir(root), [])
  await rename(`${root}-elsewhere`, `${root}`).catch(() => undefined)
  assert.deepEqual(await readAll(store, name), Buffer.from('kept'))
})

test('what a writer has left that died is dropped, and what is being written stays', async () => {
  const root = await newFolder()
  const store = openFolderStore(root)
  await store.writeMark('a mark')
  const [old, young] = [`${randomUUID()}.0123456789ab`, `${randomUUID()}.0123456789ac`]
  for (const draft of [old, young]) await writeFile(join(root, 'drafts', draft), 'half')
  const yesterday = new Date(Date.now() - 86_400_000)
  await utimes(join(root, 'drafts', old), yesterday, yesterday)
  assert.equal(await store.dropDrafts(new Date(Date.now() - 3_600_000)), 1)
  assert.deepEqual(await readdir(join(root, 'drafts')), [young])
  assert.deepEqual(await store.list(null, 10), [])
})

test('files are the own user’s alone, in folders by the end of their names', async () => {
  const root = join(await newFolder(), 'media')
  const store = openFolderStore(root)
  await store.writeMark('a mark')
  const name = '019a0000-0000-7000-8000-00000000c0de'
  await store.put(name, pieces(Buffer.from('x')))
  assert.equal(pathOf(name), `de/c0/${name}`)
  const modes = await Promise.all(['', 'de', 'de/c0', pathOf(name)].map((path) => stat(join(root, path))))
  assert.deepEqual(
    modes.map(({ mode }) => mode & 0o777),
    [0o700, 0o700, 0o700, 0o600],
  )
})
