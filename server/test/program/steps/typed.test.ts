import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandHeadings } from '../../support/program/operations.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

test('every command in docs/operations.md is run by a test', async () => {
  const tests = globSync('server/test/**/*.test.ts', { cwd: root }).map((file) =>
    readFileSync(`${root}/${file}`, 'utf8'),
  )
  const headings = await commandHeadings()
  assert.ok(headings.length > 8)
  const isTyped = (heading: string) => tests.some((text) => text.includes(`commandsUnder('${heading}')`))
  assert.deepEqual(
    headings.filter((heading) => !isTyped(heading)),
    [],
  )
})
