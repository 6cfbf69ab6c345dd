import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { runCommandInProcess } from '../support/program/run-command.ts'
import { serviceEnvironment } from '../support/program/service.ts'
import { inProcessServer } from './in-process-server.ts'

const refusals: [name: string, args: string[], words: RegExp][] = [
  ['no workspace', ['key', 'create', '--for', 'reading'], /^There is no workspace yet\./],
  ['unknown workspace', ['key', 'list', '-w', 'Nobody'], /^There is no workspace yet\./],
  ['a key for nothing', ['key', 'create'], /^--for or --scope is required\. .*\n {2}--for replying/],
  ['a key for two things', ['key', 'create', '--for', 'reading', '-s', 'leads.read'], /cannot be used with option/],
  ['a key for what is not known', ['key', 'create', '--for', 'fun'], /Allowed choices are replying, syncing, reading/],
  ['no user', ['member', 'link'], /^There are no members yet\./],
  ['unknown user', ['member', 'link', 'ana@example.com'], /^No user has this e-mail/],
  ['bad country', ['workspace', 'create', 'X', '-c', 'Brazil'], /^Validation failed\n {2}defaultCountry /],
  ['unknown country', ['workspace', 'create', 'X', '-c', 'FP'], /^Validation failed\n {2}defaultCountry /],
  ['bad quota', ['workspace', 'create', 'X', '-q', 'many'], /It must be a whole number/],
  ['unknown role', ['member', 'invite', 'x@example.com', '-r', 'boss'], /Allowed choices are member, admin, owner/],
  ['unknown command', ['key', 'burn'], /unknown command 'burn'/],
  ['nobody to erase', ['erase'], /^--phone, --email, --lead or --conversation is required/],
  ['two to erase', ['erase', '--phone', '5581991234567', '--email', 'a@example.com'], /cannot be used with/],
  ['a part that there is not', ['serve', '--only', 'both'], /Allowed choices are api, worker/],
  ['no key to act as', ['mcp', '--url', 'http://127.0.0.1:1'], /^Set the API key/],
  ['no address', ['mcp', '--key', 'plk_any', '--url', 'parley.example.com'], /^--url must be an http or https address/],
  ['a port beyond all ports', ['simulate', '--port', '65536'], /^--port must be a number from 0 to 65535/],
  [
    'a callback for a partner',
    ['simulate', '--partner', '--callback', 'http://x'],
    /^--callback cannot be used with --partner/,
  ],
]

test('a failing command prints the reason and what to do, and exits with 1', async () => {
  const { env } = await inProcessServer()
  for (const [name, args, words] of refusals) {
    const { exitCode, stderr, stdout } = await runCommandInProcess(args, env)
    assert.deepEqual([exitCode, stdout], [1, ''], name)
    assert.match(stderr, words, name)
  }
})

test('a command that needs a running service reports if there is none', async () => {
  const args = ['mcp', '--key', 'plk_any']
  const { exitCode, stderr } = await runCommandInProcess(args, { PARLEY_DATA_DIR: await newFolder() })
  assert.equal(exitCode, 1)
  assert.match(stderr, /^No service runs on this data folder/)
})

test('--only is refused on the embedded database', async () => {
  for (const only of ['api', 'worker']) {
    const { exitCode, stderr } = await runCommandInProcess(['serve', '--only', only], serviceEnvironment('/nowhere', 1))
    assert.equal(exitCode, 1)
    assert.match(stderr, /the embedded one serves one process\. Set DATABASE_URL .* or omit --only/)
  }
})

test('all problems of the settings are reported together, without values', async () => {
  const env = serviceEnvironment('/nowhere', 1, {
    DATABASE_URL: 'mysql://user:hidden@db/x',
    PARLEY_MASTER_KEY: 'hidden',
    PARLEY_ALLOW_CIDRS: '10.0.0.0/8, hidden',
    PARLEY_LOG_LEVEL: 'loud',
    PARLEY_COLOUR: 'hidden',
  })
  const { exitCode, stderr, stdout } = await runCommandInProcess(['serve'], env)
  assert.deepEqual([exitCode, stdout], [1, ''])
  assert.deepEqual(stderr.trim().split('\n'), [
    'Parley cannot start: its settings are invalid:',
    '  - DATABASE_URL must be a URL that starts with postgres:// or postgresql://',
    '  - PARLEY_ALLOW_CIDRS must list addresses or CIDR ranges, separated by commas',
    '  - PARLEY_MASTER_KEY must be 32 bytes as base64 or as 64 hex digits',
    '  - PARLEY_LOG_LEVEL must be one of debug, info, warn, error, silent',
    '  - PARLEY_COLOUR is not a known setting',
  ])
})
