import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { newFolder } from '../../support/folder.ts'
import { readsEveryFile } from '../../support/program/installation.ts'
import { runCommandInProcess } from '../../support/program/run-command.ts'
import { ask, operatorToken, serviceEnvironment, startService } from '../../support/program/service.ts'

// An installation that an earlier version made and wrote to, the demo and one lead by its key, as `parley backup` found it at
// migration 26. Restored, its rows go through every migration since, as they do when a new version starts on them.
const earlier = fileURLToPath(new URL('upgrade/migration-0026.backup.gz', import.meta.url))
const masterKey = '3aefa6552351698f5482351b918d3f4b102a439f32ce6fef56f48fb272f580a0'
const key = 'plk_ZXD2nJztRm0T9S9Ju8iXs3_26mZ4s'
const written = { code: 'LG40GJRM2CAB', firstName: 'Zoé', notes: 'Written by the version before' }
const had = { leads: 41, conversations: 6, messages: 18 }

test('data of an earlier version is complete, and can be read and written', async () => {
  const kept = await newFolder()
  const [file, folder] = [join(kept, 'earlier.backup'), join(kept, 'data')]
  await writeFile(file, gunzipSync(await readFile(earlier)))
  await writeFile(join(kept, 'keys'), masterKey)
  const env = serviceEnvironment(folder, 1)
  const restored = await runCommandInProcess(['restore', '--from', file, '--keys', join(kept, 'keys'), '--json'], env)
  assert.equal(restored.exitCode, 0, restored.stderr)
  const { proof } = JSON.parse(restored.stdout)
  assert.deepEqual(proof.findings, [])
  assert.ok(proof.migration > '0026')

  const service = await startService({ folder })
  const read = async (token: string, path: string) => {
    const { status, text, body } = await ask(service.url, token, `GET ${path}`)
    assert.equal(status, 200, `${path}: ${text}`)
    return body
  }
  const { data: lead } = await read(key, `/api/v1/leads/${written.code}`)
  assert.deepEqual([lead.firstName, lead.notes], [written.firstName, written.notes])
  const [workspace] = (await read(operatorToken, '/api/team/v1/workspaces')).workspaces
  const team = `/api/team/v1/workspaces/${workspace.id}`
  const { conversations } = await read(operatorToken, `${team}/inbox/conversations?limit=100`)
  let messages = 0
  for (const { id } of conversations) {
    const page = await read(operatorToken, `${team}/inbox/conversations/${id}/messages?limit=100`)
    messages += page.messages.length
  }
  const leads = await read(operatorToken, `${team}/leads?limit=100`)
  assert.deepEqual({ leads: leads.total, conversations: conversations.length, messages }, had)
  await readsEveryFile(service.url)

  assert.equal((await ask(service.url, key, 'POST /api/v1/leads', { firstName: 'Kim' })).status, 201)
  const after = await runCommandInProcess(['prove', '--json'], env)
  assert.deepEqual(JSON.parse(after.stdout).findings, [])
})
