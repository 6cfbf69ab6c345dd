import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newFolder } from '../support/folder.ts'

const megabytes = Number(process.env.MEDIA_MEGABYTES ?? 10)
const files = 20
const mayGrowBy = 16_000_000
const program = fileURLToPath(new URL('../support/media/many-files.ts', import.meta.url))

test(`memory grows by 16 MB at most while ${files} files of ${megabytes} MB are written and read at once`, async () => {
  const args = [program, await newFolder(), String(files), String(megabytes)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const { writing, reading } = JSON.parse(stdout)
  assert.ok(writing <= mayGrowBy, `by ${writing} bytes while written`)
  assert.ok(reading <= mayGrowBy, `by ${reading} bytes while read`)
})

test(`memory grows by 16 MB at most while ${files} files of ${megabytes} MB are fetched`, async () => {
  const [serve, fetchMany] = ['serve-bytes.ts', 'fetch-many.ts'].map((name) =>
    fileURLToPath(new URL(`../support/media/${name}`, import.meta.url)),
  )
  const server = spawn(process.execPath, [String(serve), String(megabytes)], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = await once(server.stdout, 'data')
    const url = `http://127.0.0.1:${String(port).trim()}/`
    const fetcher = spawn(process.execPath, [
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
    assert.ok(fetching <= mayGrowBy, `by ${fetching} bytes`)
  } finally {
    server.kill()
  }
})
