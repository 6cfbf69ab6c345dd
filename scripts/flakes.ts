// Runs the tests several times and lists the failures with their frequency: `node scripts/flakes.ts 10`, `node
// scripts/flakes.ts 3 --tier slow`, `node scripts/flakes.ts 20 web/test/journeys`.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tier: { type: 'string' },
    /** Number of runs with two busy processes beside them; a third of the runs by default. */
    busy: { type: 'string' },
  },
})
const [times = '', ...paths] = positionals
const runs = Number(times)
if (!Number.isInteger(runs) || runs < 1) throw new Error('The number of runs is required: node scripts/flakes.ts 10')
const busyRuns = Number(values.busy ?? Math.round(runs * 0.3))
const args = [...(values.tier ? ['--tier', values.tier] : []), ...paths]

const failures = new Map<string, string[]>()
for (let run = 1; run <= runs; run++) {
  const isBusy = run > runs - busyRuns
  const name = `run ${run}${isBusy ? ', busy' : ''}`
  const busy = isBusy ? [keepBusy(), keepBusy()] : []
  const startedAt = performance.now()
  const { failed, lastLine } = await runTests()
  for (const child of busy) child.kill()
  for (const test of failed) failures.set(test, [...(failures.get(test) ?? []), name])
  console.log(`${name}: ${lastLine} (${Math.round((performance.now() - startedAt) / 1000)} s)`)
}
for (const [test, where] of failures) console.log(`✖ ${test}: ${where.join('; ')}`)
console.log(`${failures.size} tests failed in ${runs} runs`)
process.exitCode = failures.size === 0 ? 0 : 1

/** Occupies a processor until killed. */
function keepBusy(): ChildProcess {
  return spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
}

async function runTests(): Promise<{ failed: Set<string>; lastLine: string }> {
  const runner = fileURLToPath(new URL('../bin/test.mjs', import.meta.url))
  const child = spawn(process.execPath, [runner, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const failed = new Set<string>()
  let [lastLine, isPrinting] = ['', false]
  for await (const line of createInterface({ input: child.stdout })) {
    const [, test] = /^✖ (.* › .*)/.exec(line) ?? []
    // Prints the details of each failing test only once.
    if (test !== undefined) isPrinting = !failed.has(test)
    else if (/^[✔✖]/.test(line)) isPrinting = false
    if (isPrinting) console.log(line)
    if (test !== undefined) failed.add(test)
    if (line !== '') lastLine = line
  }
  const [code] = await closed
  if (code !== 0 && failed.size === 0) failed.add(`the run itself: ${lastLine}`)
  return { failed, lastLine }
}
