import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
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
