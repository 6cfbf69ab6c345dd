import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type FilesInbox, filesInbox, startFilePlatform } from '../support/media/files-inbox.ts'
import { type Service, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'

const megabytes = Number(process.env.MEDIA_MEGABYTES ?? 10)
const files = 20
const mayGrowBy = 16_000_000

test(`a service that fetches, serves and uploads ${files} files of ${megabytes} MB grows by at most 16 MB`, async (t) => {
  if (process.platform !== 'linux') return t.skip('There is no /proc')
  const env = { PARLEY_ALLOW_CIDRS: '127.0.0.1/32' }
  const service = await startService({ env })
  const { fetchAll, readAll, uploadAll, drop } = all(await filesInbox(service, await startFilePlatform()))
  // What the service itself takes to begin with is not to be counted.
  await fetchAll(1)
  await readAll(1)
  for (const id of await uploadAll(1)) await drop(id)

  for (const [what, work] of [
    ['fetched', () => fetchAll(megabytes)],
    ['read', () => readAll(megabytes)],
    ['taken in', () => uploadAll(megabytes)],
  ] as const) {
    const grown = await growthOf(service, work)
    assert.ok(grown <= mayGrowBy, `by ${grown} bytes while they are ${what}`)
    t.diagnostic(`${what}: ${(grown / 1e6).toFixed(1)} MB`)
  }
})

/** As many at once as there are files. */
function all({ sendFileMessage: tell, fetchedFiles: here, read, upload, drop }: FilesInbox) {
  const each = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: files }, work))
  return {
    fetchAll: async (of: number) => {
      for (let n = 0; n < files; n++) await tell(of)
      // Each look is answered with all of them: many would be the work that is measured.
      await until(async () => (await here(of)).length === files, 'all of them', 120_000, 500)
    },
    readAll: async (of: number) => {
      const counts = await Promise.all((await here(of)).map(async (id) => (await read(id)).bytes))
      assert.deepEqual(new Set(counts), new Set([of * 1e6]))
    },
    uploadAll: (of: number) =>
      each(async () => {
        const { status, id } = await upload(of)
        assert.equal(status, 201)
        return id
      }),
    drop,
  }
}

/**
 * What a process has taken for itself, in bytes. The pages of the program that the system has read meanwhile are in its resident
 * size too, several megabytes of them where others have pushed them out before; they are in nobody's way.
 */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1])
}

async function growthOf(service: Service, work: () => Promise<unknown>): Promise<number> {
  const memory = () => memoryOf(service.pid)
  const before = memory()
  let most = before
  const looking = setInterval(() => {
    most = Math.max(most, memory())
  }, 5)
  await work()
  clearInterval(looking)
  return most - before
}
