// `npm run faults`: runs the fault tests one after the other and reports the findings. Options:
// --minutes 120: total time. Each fault test gets its share and runs at least once, however long that takes.
// --only kill-sends,fuzz: runs only these. --list: lists all.
// --write: adds the results to docs/measurements/faults.md.
// Exits with 1 if there was a finding, and prints how to repeat it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type FaultTest, faultTests } from './fault-tests.ts'
import { mergeReports, type Report, type Result, type RunLine, readPage, tableOf, writePage } from './report.ts'
import { type Run, runOnce } from './run-fault-test.ts'

const page = fileURLToPath(new URL('../../docs/measurements/faults.md', import.meta.url))
const manifest = fileURLToPath(new URL('../../package.json', import.meta.url))
/** Stops repeating a fault test after this many findings. */
const maxFindings = 3
/** Multiple of its share after which a run counts as hanging. */
const maxShareFactor = 4
const defaultTimeoutSeconds = 1800

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error('--minutes must be a positive number, such as 120')

if (values.list) for (const { name, guarantee } of faultTests) console.log(`${name.padEnd(20)} ${guarantee}`)
else await runAll(selectFaultTests(values.only))

async function runAll(list: readonly FaultTest[]): Promise<void> {
  const logs = mkdtempSync(join(tmpdir(), 'parley-faults-'))
  const shares = list.reduce((sum, { share = 1 }) => sum + share, 0)
  const startedAt = Date.now()
  const results: Result[] = []
  const failures: Run[] = []
  let stopped = false
  // The tests receive the signal too, and stop the processes that they started.
  process.once('SIGINT', () => {
    stopped = true
  })
  const before = readBefore()
  for (const faultTest of list) {
    const runs = await repeatFaultTest(faultTest, (minutes * 60 * (faultTest.share ?? 1)) / shares, logs, () => stopped)
    if (stopped) break
    failures.push(...runs.filter(({ findings }) => findings.length > 0))
    results.push(resultOf(faultTest, runs))
    if (values.write) write(before, { version: version(), results, runs: [runLine(startedAt, results)] })
  }
  console.log(`\n${tableOf(results)}`)
  for (const { findings, command, logFile } of failures) {
    console.log(`\n${findings.join('\n')}\nRepeat: ${command}\nOutput: ${logFile}`)
  }
  if (failures.length > 0 || stopped) process.exitCode = 1
}

/** Repeats a fault test until its time is used, each run as long as fits. */
async function repeatFaultTest(
  faultTest: FaultTest,
  budget: number,
  logs: string,
  stopped: () => boolean,
): Promise<Run[]> {
  mkdirSync(join(logs, faultTest.name))
  const maxSeconds = Math.ceil(Math.max(faultTest.minTimeoutSeconds ?? defaultTimeoutSeconds, budget * maxShareFactor))
  const runs: Run[] = []
  const spent = () => runs.reduce((sum, { seconds }) => sum + seconds, 0)
  const failed = () => runs.filter(({ findings }) => findings.length > 0).length
  let scale = 1
  do {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const logFile = join(logs, faultTest.name, `${runs.length + 1}.log`)
    const run = await runOnce(faultTest, { scale, seed, maxSeconds, logFile })
    if (stopped()) return runs
    runs.push(run)
    printRun(faultTest, run)
    // The fixed cost of a run makes this estimate a little short, never too long.
    scale = Math.max(1, (scale * (budget - spent()) * 0.8) / run.seconds)
  } while (faultTest.count !== 'cases' && failed() < maxFindings && spent() + shortest(runs) * 0.7 < budget)
  return runs
}

function shortest(runs: readonly Run[]): number {
  return Math.min(...runs.map(({ seconds }) => seconds))
}

function printRun({ name, unit }: FaultTest, { isSkipped, tries, seconds, findings }: Run): void {
  const what = isSkipped ? 'cannot run here' : `${tries} ${unit}`
  console.log(`${name.padEnd(20)} ${what.padEnd(24)} ${seconds.toFixed(1).padStart(7)} s  ${findings.length} findings`)
}

function resultOf({ name, unit, count }: FaultTest, runs: readonly Run[]): Result {
  const sum = (of: (run: Run) => number) => runs.reduce((total, run) => total + of(run), 0)
  return {
    name,
    unit,
    tries: sum((run) => run.tries),
    seconds: sum((run) => run.seconds),
    findings: sum(({ findings }) => findings.length),
    hasFixedCases: count === 'cases',
  }
}

function selectFaultTests(only: string | undefined): readonly FaultTest[] {
  if (only === undefined) return faultTests
  const names = only.split(',')
  const unknown = names.find((name) => !faultTests.some((faultTest) => faultTest.name === name))
  if (unknown !== undefined) throw new Error(`Unknown fault test ${unknown}. --list shows all`)
  return faultTests.filter(({ name }) => names.includes(name))
}

function readBefore(): string {
  return existsSync(page) ? readFileSync(page, 'utf8') : ''
}

function write(before: string, run: Report): void {
  const names = faultTests.map(({ name }) => name)
  writeFileSync(page, writePage(mergeReports(readPage(before, run.version), run, names), before))
}

function version(): string {
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}

function runLine(startedAt: number, results: readonly Result[]): RunLine {
  return {
    when: new Date(startedAt).toISOString().slice(0, 16).replace('T', ' '),
    commit: commit(),
    minutes: Math.round((Date.now() - startedAt) / 60_000),
    tests: results.length,
    findings: results.reduce((sum, { findings }) => sum + findings, 0),
  }
}

/** Returns a dash if the files are not in a git repository. */
function commit(): string {
  const options = { cwd: dirname(page), encoding: 'utf8' } as const
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], options)
  return status === 0 ? stdout.trim() : '–'
}
