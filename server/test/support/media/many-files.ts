// `many-files.ts <folder> <files> <megabytes of each>`: writes so many files at once through a folder store, sealed, then
// reads all of them at once. Prints by how many bytes the memory of the process grew at most.
import { randomUUID } from 'node:crypto'
import { release } from '../../../src/base/bytes/release.ts'
import { type FileSecret, openFile, sealFile } from '../../../src/media/sealed-file.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { memoryOf } from './memory.ts'

const [, , folder = '', files = '', megabytes = ''] = process.argv
const bytes = Number(megabytes) * 1_000_000
const store = openFolderStore(folder)
await store.writeMark('a mark')
const part = Buffer.alloc(65_536, 'parley')

// What the program itself takes to begin with, for one file after the other, is not to be counted.
for (let file = 0; file < 20; file++) await writeAll(1, 5_000_000).then(readAll)
globalThis.gc?.()
const before = memoryOf('self')
let most = before
const sampler = setInterval(() => {
  most = Math.max(most, memoryOf('self'))
}, 5)
const written = await writeAll(Number(files), bytes)
const afterWrites = most
const read = await readAll(written)
clearInterval(sampler)
if (read !== Number(files) * bytes) throw new Error(`${read} bytes came back`)
console.log(JSON.stringify({ writing: afterWrites - before, reading: most - before }))

function writeAll(count: number, size: number): Promise<FileSecret[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const id = randomUUID()
      const { key, stored } = sealFile(id, source(size))
      await store.put(id, stored)
      return { id, key, bytes: size }
    }),
  )
}

async function readAll(secrets: FileSecret[]): Promise<number> {
  const counts = await Promise.all(
    secrets.map(async (secret) => {
      const read = (start: number, end: number | null) => store.open(secret.id, start, end)
      let count = 0
      for await (const piece of openFile(secret, { start: 0, end: secret.bytes }, read)) {
        count += piece.length
        release(piece)
      }
      await store.remove(secret.id)
      return count
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** What those who give it bytes take is theirs. */
async function* source(size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += part.length) {
    yield part.subarray(0, Math.min(part.length, size - at))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
