import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newFolder } from '../support/folder.ts'
import { smallYoungSpace } from '../support/media/memory.ts'

const megabytes = Number(process.env.MEDIA_MEGABYTES ?? 10)
const files = 20
const mayGrowBy = 16_000_000
const program = fileURLToPath(new URL('../support/media/many-files.ts', import.meta.url))

test(`memory grows by 16 MB at most while ${files} files of ${megabytes} MB are written and read at once`, async (t) => {
  const args = [smallYoungSpace, program, await newFolder(), String(files), String(megabytes)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const { writing, reading } = JSON.parse(stdout)
  tell(t, { writing, reading })
  assert.ok(writing <= mayGrowBy, `by ${writing} bytes while written`)
  assert.ok(reading <= mayGrowBy, `by ${reading} bytes while read`)
})

test(`memory grows by 16 MB at most while ${files} files of ${megabytes} MB are fetched`, async (t) => {
  const [serve, fetchMany] = ['serve-bytes.ts', 'fetch-many.ts'].map((name) =>
    fileURLToPath(new URL(`../support/media/${name}`, import.meta.url)),
  )
  const server = spawn(process.execPath, [String(serve), String(megabytes)], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = await once(server.stdout, 'data')
    const url = `http://127.0.0.1:${String(port).trim()}/`
    const fetcher = spawn(process.execPath, [
      smallYoungSpace,
      String(fetchMany),
      url,
      await newFolder(),
      String(files),
      String(megabytes),
    ])
    const printed: Buffer[] = []
    fetcher.stdout.on('data', (piece: Buffer) => printed.push(piece))
    const [status] = await once(fetcher, 'close')
    assert.equal(status, 0)
    const { fetching } = JSON.parse(Buffer.concat(printed).toString())
    tell(t, { fetching })
    assert.ok(fetching <= mayGrowBy, `by ${fetching} bytes`)
  } finally {
    server.kill()
  }
})

function tell(t: TestContext, grown: Record<string, number>): void {
  for (const [what, bytes] of Object.entries(grown)) t.diagnostic(`${what}: ${(bytes / 1e6).toFixed(1)} MB`)
}
