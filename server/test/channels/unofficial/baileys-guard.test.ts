import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const guard = new URL('../../../src/channels/unofficial/transport/baileys-package.ts', import.meta.url).href

/** Runs the code in a separate process, in which `theirs` runs code as if it belonged to the package. */
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

test('console output of the package is suppressed, other output is not', async () => {
  const { stdout, stderr } = await run(
    `theirs("console.info('Closing session:', { key: 'secret' }); console.error('secret')")`,
    `console.info('ours')`,
    `console.error('ours')`,
  )
  assert.deepEqual([stdout, stderr], ['ours\n', 'ours\n'])
})

test('an unhandled rejection in the package is logged once and the process continues; one of ours ends it', async () => {
  const later = `setTimeout(() => console.info('still here'), 20)`
  const theirs = await run(`theirs("void Promise.reject(new Error('secret'))")`, later)
  assert.equal(theirs.code, 0)
  assert.equal(theirs.stdout, 'log: unhandled error in Baileys\nstill here\n')
  const ours = await run(`void Promise.reject(new Error('ours'))`, later)
  assert.notEqual(ours.code, 0)
  assert.match(ours.stderr, /Error: ours/)
  assert.equal(ours.stdout, '')
})
