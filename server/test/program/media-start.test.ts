import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { newFolder } from '../support/folder.ts'
import { runCommand } from '../support/program/run-command.ts'
import { freePort, serviceEnvironment, startService } from '../support/program/service.ts'

/** Starts the service and stops it again. */
async function startOnce(folder: string, env: Record<string, string> = {}): Promise<void> {
  const service = await startService({ folder, port: await freePort(), env })
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)
}

test('a start on the files of another installation, or without one’s own, is refused in words', async () => {
  const [folder, other] = [await newFolder(), await newFolder()]
  await startOnce(folder)
  await startOnce(other)
  assert.deepEqual(await readdir(join(folder, 'media')), ['drafts', 'parley-store.json'])

  const env = serviceEnvironment(folder, await freePort())
  const onOther = { ...env, PARLEY_MEDIA_URL: pathToFileURL(join(other, 'media')).href }
  const foreign = await runCommand(['serve'], onOther)
  assert.equal(foreign.exitCode, 1)
  assert.match(foreign.stderr, /^The media folder .* belongs to another installation of Parley/m)
  assert.doesNotMatch(foreign.stderr, /^ +at /m)

  await rename(join(folder, 'media'), join(folder, 'away'))
  const without = await runCommand(['serve'], env)
  assert.equal(without.exitCode, 1)
  assert.match(without.stderr, /has no parley-store\.json.*Is its disk mounted/)
  await rm(join(folder, 'media'), { recursive: true, force: true })
  await rename(join(folder, 'away'), join(folder, 'media'))
  await startOnce(folder)
})

test('a copy of the stopped service’s folder starts elsewhere, and so do its files in a folder of their own', async () => {
  const [folder, copy, files] = [await newFolder(), await newFolder(), await newFolder()]
  await startOnce(folder)
  execFileSync('cp', ['-a', `${folder}/.`, copy])
  await startOnce(copy)

  execFileSync('cp', ['-a', `${join(copy, 'media')}/.`, files])
  await rm(join(copy, 'media'), { recursive: true })
  await startOnce(copy, { PARLEY_MEDIA_URL: pathToFileURL(files).href })
})
