import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FaultTest } from './fault-tests.ts'

export interface Run {
  tries: number
  seconds: number
  /** Names of the failed tests, or why there is no result. */
  findings: string[]
  /** True if none of the tests can run on this machine. */
  isSkipped: boolean
  /** Command that repeats the run. */
  command: string
  /** Complete output. */
  logFile: string
}

export interface RunOptions {
  /** Factor by which the run is longer than the first run. */
  scale: number
  seed: number
  /** Timeout of the run. */
  maxSeconds: number
  logFile: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const marks = { failed: /^✖ .* › (.*)$/, told: /^\s*ℹ (.*)$/, end: /^(\d+) passed, \d+ failed, (\d+) skipped$/m }

/** Runs a fault test once, with the same command that a person would use. */
export async function runOnce(faultTest: FaultTest, options: RunOptions): Promise<Run> {
  const variables = variablesOf(faultTest, options)
  const args = [...faultTest.files, `--test-timeout=${options.maxSeconds * 1000}`]
  if (faultTest.testNames) args.push(`--test-name-pattern=${faultTest.testNames.join('|')}`)
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['bin/test.mjs', ...args], {
    cwd: root,
    env: { ...process.env, ...variables, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(options.logFile)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      log.write(text)
    })
  }
  let isOver = false
  const clock = setTimeout(() => {
    isOver = true
    child.kill('SIGTERM')
  }, options.maxSeconds * 1000)
  const [code] = await once(child, 'close')
  clearTimeout(clock)
  log.end()
  const seconds = (performance.now() - startedAt) / 1000
  const { failed, passed, skipped, unitCount } = parseOutput(output, faultTest.unit)
  const findings = isOver ? [`Timed out after ${options.maxSeconds} s`, ...failed] : failed
  if (code !== 0 && findings.length === 0) findings.push(`The tests exited with ${code}`)
  if (passed === 0 && skipped === 0 && findings.length === 0) findings.push('No test ran')
  const size = (variable: string) => Number(variables[variable] ?? Number.NaN)
  return {
    tries:
      faultTest.count === 'printed'
        ? unitCount
        : faultTest.count === 'cases'
          ? passed
          : faultTest.count({ size, passed }),
    seconds,
    findings,
    isSkipped: passed === 0 && skipped > 0,
    command: commandOf(variables, args),
    logFile: options.logFile,
  }
}

function variablesOf({ sizes = {}, seed }: FaultTest, options: RunOptions): Record<string, string> {
  const scaled = Object.entries(sizes).map(([variable, { from, to }]) => {
    return [variable, String(from === to ? to : Math.min(to, Math.floor(from * options.scale)))]
  })
  return { ...Object.fromEntries(scaled), ...(seed && { [seed]: String(options.seed) }) }
}

function commandOf(variables: Record<string, string>, args: string[]): string {
  const quoted = args.map((arg) => (/[^\w./=-]/.test(arg) ? `'${arg}'` : arg))
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value} `)
  return `${set.join('')}npm test -- ${quoted.join(' ')}`
}

export interface TestOutput {
  failed: string[]
  passed: number
  skipped: number
  /** Sum of the counts that the tests printed for this unit. */
  unitCount: number
}

/** Parses the output of the tests. */
export function parseOutput(text: string, unit: string): TestOutput {
  const lines = text.split('\n')
  const told = lines.flatMap((line) => marks.told.exec(line)?.[1] ?? [])
  const counted = new RegExp(`^(\\d+) ${unit}\\b`)
  const [, passed = 0, skipped = 0] = marks.end.exec(text) ?? []
  return {
    // Failures are printed again at the end.
    failed: [...new Set(lines.flatMap((line) => marks.failed.exec(line)?.[1] ?? []))],
    passed: Number(passed),
    skipped: Number(skipped),
    unitCount: told.reduce((sum, line) => sum + Number(counted.exec(line)?.[1] ?? 0), 0),
  }
}
