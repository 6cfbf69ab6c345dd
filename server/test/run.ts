// Runs the tests: `npm test`, or `npm test -- server/test/leads/upsert.test.ts --test-name-pattern=…` for some.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { buildWebIfNeeded } from '../../scripts/build-web.ts'
import { ensureChromium } from '../../scripts/chromium.ts'
import { startTestServer } from './support/test-server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
// A test that waits for ever, or leaves something open, must fail or end rather than hold up all the others.
const limits = ['--test-timeout=300000']
// Hundreds of processes read the same sources.
const cache = fileURLToPath(new URL('../../node_modules/.cache/parley-tests', import.meta.url))
const options = ['--test', '--test-concurrency=2', '--test-reporter=spec', ...limits]

process.chdir(root)
const chromium = ensureChromium()
await buildWebIfNeeded()
const server = await startTestServer(process.env)
try {
  const handed = JSON.stringify({ admin: server.admin, template: server.template })
  process.exitCode = await runTests(process.argv.slice(2), {
    PARLEY_TEST_SERVER: handed,
    CHROMIUM: chromium,
    NODE_COMPILE_CACHE: cache,
  })
} finally {
  await server.stop()
}

function runTests(args: string[], env: Record<string, string>): Promise<number> {
  const flags = args.filter((arg) => arg.startsWith('-'))
  const files = args.filter((arg) => !arg.startsWith('-'))
  const selection = files.length > 0 ? files : ['server/test/**/*.test.ts', 'web/test/**/*.test.ts']
  const child = spawn(process.execPath, [...options, ...flags, ...selection], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  // A terminal sends Ctrl+C to the tests as well; the runner lives on to stop the server after them.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
