// Run on a disk of a megabyte: `on-small-disk.ts <folder> full|read-only`. Prints what came of it.
import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { StoreProblem } from '../../../src/media/store/store.ts'

const [, , folder = '', what] = process.argv
const store = openFolderStore(folder)
await store.writeMark('a mark')
const kept = randomUUID()
const bytes = randomBytes(300_000)
await store.put(kept, parts(bytes))

if (what === 'read-only') spawnSync('mount', ['-o', 'remount,ro', folder])
const problem = await problemOf(store.put(randomUUID(), parts(randomBytes(2_000_000))))
const removal = what === 'read-only' ? await problemOf(store.remove(kept)) : null
const drafts = await readdir(join(folder, 'drafts'))
const read: Buffer[] = []
for await (const piece of await store.open(kept)) read.push(Buffer.from(piece))
const takesAgain = what === 'full' ? (await store.put(randomUUID(), parts(randomBytes(400_000)))) === 400_000 : null
console.log(
  JSON.stringify({
    problem: problem?.kind,
    message: problem?.message.replace(folder, 'FOLDER'),
    ...(removal !== null && { removal: removal.kind }),
    drafts,
    stillReads: Buffer.concat(read).equals(bytes),
    ...(takesAgain !== null && { takesAgain }),
  }),
)

async function problemOf(work: Promise<unknown>): Promise<StoreProblem | null> {
  try {
    await work
    return null
  } catch (error) {
    if (error instanceof StoreProblem) return error
    throw error
  }
}

async function* parts(all: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < all.length; at += 50_000) yield all.subarray(at, at + 50_000)
}
