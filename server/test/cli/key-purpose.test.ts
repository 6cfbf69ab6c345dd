import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { resolvePermissions } from '../../src/cli/key.ts'

function terminal(isTTY: boolean, typed = '') {
  const input = Object.assign(new PassThrough(), { isTTY })
  input.end(typed)
  const shown: string[] = []
  const output = new PassThrough().on('data', (chunk) => shown.push(String(chunk)))
  return { input, output, shown: () => shown.join('') }
}

test('a key gets the scopes of its purpose, and only replying agents get new conversations', async () => {
  for (const [purpose, scopes, answersNewConversations] of [
    ['replying', ['leads.read', 'leads.write', 'inbox.read', 'inbox.write', 'knowledge.read'], true],
    ['syncing', ['leads.read', 'leads.write', 'leads.bulk'], false],
    ['reading', ['leads.read', 'inbox.read'], false],
  ] as const)
    assert.deepEqual(await resolvePermissions({ for: purpose }, terminal(false)), { scopes, answersNewConversations })
  assert.deepEqual(await resolvePermissions({ scope: ['leads.delete'] }, terminal(false)), { scopes: ['leads.delete'] })
})

test('a script without scopes or purpose gets an error with the options', async () => {
  await assert.rejects(
    resolvePermissions({}, terminal(false)),
    /--for replying .*\n {2}--for syncing .*\n {2}--for reading /,
  )
})

test('a person is asked until they choose a purpose, by number or name', async () => {
  for (const typed of ['5\n\n2\n', 'everything\nSyncing\n']) {
    const asked = terminal(true, typed)
    assert.deepEqual((await resolvePermissions({}, asked)).scopes, ['leads.read', 'leads.write', 'leads.bulk'])
    assert.match(asked.shown(), /^What is the key for\?\n {2}1 {2}replying: /)
  }
})
