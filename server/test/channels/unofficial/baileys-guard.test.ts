import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const guard = new URL('../../../src/channels/unofficial/transport/baileys-package.ts', import.meta.url).href

/** Runs the lines in a process of its own, in which `theirs` runs code as if it were the package's. */
async function run(...lines: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  const script = [
    `import { runInThisContext } from 'node:vm'`,
    `import { guardBaileys } from '${guard}'`,
    `const theirs = (code) => runInThisContext(code, { filename: '/srv/node_modules/libsignal/src/session_record.js' })`,
    `const log = { debug() {}, info() {}, error() {}, warn: (message) => process.stdout.write('log: ' + message + '\\n') }`,
    'guardBaileys(log)',
    'guardBaileys(log)',
    ...lines,
  ].join('\n')
  const ran = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return ran.then(
    (out) => ({ ...out, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  )
}

test('what the package prints on the console is not printed, what others print is', async () => {
  const { stdout, stderr } = await run(
    `theirs("console.info('Closing session:', { key: 'secret' }); console.error('secret')")`,
    `console.info('ours')`,
    `console.error('ours')`,
  )
  assert.deepEqual([stdout, stderr], ['ours\n', 'ours\n'])
})

test('a promise of the package that fails unseen is logged once, and the process goes on', async () => {
  const { stdout, code } = await run(
    `theirs("void Promise.reject(new Error('secret'))")`,
    `setTimeout(() => console.info('still here'), 20)`,
  )
  assert.equal(code, 0)
  assert.equal(stdout, 'log: a session failed at something that nobody waited for\nstill here\n')
})

test('a promise of ours that fails unseen ends the process as before', async () => {
  const { stdout, stderr, code } = await run(
    `void Promise.reject(new Error('ours'))`,
    `setTimeout(() => console.info('still here'), 20)`,
  )
  assert.notEqual(code, 0)
  assert.match(stderr, /Error: ours/)
  assert.equal(stdout, '')
})
