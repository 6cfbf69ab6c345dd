// Checks that a server with tables distributed by Citus accepts every statement that the tests send:
// `CITUS_URL=postgres://… npm run test:statements`, or `… -- server/test/leads/write/upsert.test.ts` for some files.
// The database of CITUS_URL must be dedicated to this: its schema is created, distributed and kept.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ReplayReport, replayAll } from './replay.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const url = process.env.CITUS_URL

if (url) await run(url)
else print('Skipped: set CITUS_URL to a database on a server with Citus to check the statements.')

async function run(address: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-statements-'))
  try {
    const files = process.argv.slice(2)
    const isGood = await runSuite(folder, files.length > 0 ? files : ['server/test/**/*.test.ts'])
    const replayed = await replayAll(address, folder)
    printReport(replayed)
    if (!isGood) print('The tests failed; statements that they did not reach were not checked.')
    // A run without statements has checked nothing.
    process.exitCode = isGood && replayed.checked > 0 && replayed.refused.length === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runSuite(folder: string, files: string[]): Promise<boolean> {
  const env = { ...process.env, PARLEY_RECORD_STATEMENTS: folder }
  const suite = spawn(process.execPath, [join(root, 'bin/test.mjs'), ...files], { stdio: 'inherit', env, cwd: root })
  return new Promise((resolve, reject) => {
    suite.on('error', reject)
    suite.on('exit', (code) => resolve(code === 0))
  })
}

function printReport({ checked, refused, skipped }: ReplayReport): void {
  for (const { place, reason, text } of refused.toSorted((a, b) => (a.place < b.place ? -1 : 1))) {
    print(`${place}: ${reason}\n  ${text}\n`)
  }
  print(
    `Checked ${checked} statements of the service: ${refused.length} refused. Not checked: ${skipped.ofTests} of tests, ` +
      `${skipped.onNoTable} without tables, ${skipped.refusedAnywhere} that fail on any server.`,
  )
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
