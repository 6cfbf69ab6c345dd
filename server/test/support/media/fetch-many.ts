// `fetch-many.ts <url> <folder> <files> <megabytes of each>`: fetches so many files into a folder store, sealed, eight at once as a
// worker does. Prints by how many bytes the memory of the process grew at most.
import { randomUUID } from 'node:crypto'
import { limitConcurrency } from '../../../src/base/async/concurrency-limit.ts'
import { watchFile } from '../../../src/inbox/media/check-file.ts'
import { sealFile } from '../../../src/media/sealed-file.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { openTestOutgoing } from '../outgoing/outgoing.ts'
import { memoryOf } from './memory.ts'

const [, , url = '', folder = '', files = '', megabytes = ''] = process.argv
const maxAnswerBytes = Number(megabytes) * 1_000_000
const { signal } = new AbortController()
const outgoing = openTestOutgoing()
const store = openFolderStore(folder)
await store.writeMark('a mark')

// What the program itself takes to begin with, for one file after the other, is not to be counted.
for (let file = 0; file < 20; file++) await fetchOne()
globalThis.gc?.()
const before = memoryOf('self')
let most = before
const sampler = setInterval(() => {
  most = Math.max(most, memoryOf('self'))
}, 5)
const eight = limitConcurrency({ atOnce: 8 })
await Promise.all(Array.from({ length: Number(files) }, () => eight(fetchOne)))
clearInterval(sampler)
outgoing.close()
console.log(JSON.stringify({ fetching: most - before }))

async function fetchOne(): Promise<void> {
  const request = { method: 'GET', url, headers: {}, body: null, silenceMs: 15_000, maxAnswerBytes, signal } as const
  const answer = await outgoing.stream(request)
  if (answer.outcome !== 'answered') throw new Error(answer.code)
  const watched = watchFile(answer.bytes)
  const id = randomUUID()
  await store.put(id, sealFile(id, watched.bytes).stored)
  const { bytes } = await watched.seen()
  if (bytes !== maxAnswerBytes) throw new Error(`${bytes} bytes came`)
  await store.remove(id)
}
