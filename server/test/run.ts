// Runs the tests: `npm test`, or `npm test -- server/test/leads/write/upsert.test.ts --test-name-pattern=…` for some;
// a folder stands for all in it.
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run, type TestsStream } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect, parseArgs } from 'node:util'
import { buildWebIfNeeded } from '../../scripts/build-web.ts'
import { ensureChromium } from '../../scripts/chromium.ts'
import { hasPooler, howToGetPooler, startPooler } from './support/postgres/pooler.ts'
import { ofOneServer } from './support/spread.ts'
import { makeScratch, type RunningTestServer, startSpreadServer, startTestServer } from './support/test-server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
// Hundreds of processes read the same sources.
const cache = fileURLToPath(new URL('../../node_modules/.cache/parley-tests', import.meta.url))
const groupFolder = join(cache, `groups-${process.pid}`)
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'test-name-pattern': { type: 'string', multiple: true },
    'test-skip-pattern': { type: 'string', multiple: true },
    // Has the server's tests go through PgBouncer.
    pooler: { type: 'boolean', default: false },
    // Has the tests of rooms that keep rows run on a database that is spread by Citus: CITUS_URL names it, and it is theirs for good.
    spread: { type: 'boolean', default: false },
    // Has only those that use the server of DATABASE_URL: what brings a database of its own says the same on any other.
    given: { type: 'boolean', default: false },
    'test-concurrency': { type: 'string', default: '2' },
    // A test that waits for ever, or leaves something open, must fail or end rather than hold up all the others.
    'test-timeout': { type: 'string', default: '180000' },
  },
})
// What has processes, servers or pages of its own, and so takes long: each such file is a process of its own.
const alone = [
  /^web\/(?!.*-rules\.test)/,
  /^server\/test\/(program|rotation|base)\/(?!(async|phone|sealing|text)\/)/,
  /^server\/test\/faults\/(storage|files|clocks)/,
  /kill|crash|storm|chaos/,
]
const serverTests = 'server/test/**/*.test.ts'
const together = 8
const longest = [
  'web/test/every-page.test.ts',
  'web/test/settings.test.ts',
  'web/test/attach.test.ts',
  'web/test/composer.test.ts',
  'web/test/leads.test.ts',
  'web/test/inbox.test.ts',
  'web/test/bell.test.ts',
  'web/test/profile.test.ts',
  'program/tutorials.test.ts',
  'web/test/lead-views.test.ts',
  'web/test/palette.test.ts',
  'web/test/pages.test.ts',
  'base/embedded/kill.test.ts',
  'program/command-line.test.ts',
  'program/two-nodes.test.ts',
  'program/kill-writes.test.ts',
  'rotation/under-load.test.ts',
  'program/webhook-chaos.test.ts',
]
/**
 * What waits for two thirds of its time and more: for leases and limits to run out, for other processes. One of these runs beside
 * the others, of which there are as many at a time as processors; and last the installation, which takes what they leave.
 */
const waiting = [
  'program/primary-moves.test.ts',
  'program/availability/database-away.test.ts',
  'program/availability/writes-hang.test.ts',
  'program/session-takeover.test.ts',
  'inbox/send/send-takeover.test.ts',
  'webhooks/deliver/delivery-crash.slow.test.ts',
  'base/postgres/driver.test.ts',
  'channels/behaviour/contested.test.ts',
  'channels/unofficial/session-lease.test.ts',
  'channels/unofficial/session-network-closes.test.ts',
  'program/install.test.ts',
]
const manyFiles = 40
/** Characters, of one failure. */
const maxTold = 4000
/** What brings databases of its own, embedded or installed, or needs none. Each is refused the server that the others share. */
const ofOwnDatabase = [
  /^server\/test\/deploy\//,
  /^server\/test\/(architecture|documents)\.test/,
  /^server\/test\/base\/embedded\//,
  /^server\/test\/program\/(bench|dump|install|kill-writes|primary-moves|simulate|start|stop|telemetry|tutorials)\.test/,
  /^server\/test\/program\/backup\/(backup|upgrade)\.test/,
  /^server\/test\/program\/steps\/(database|service)-steps\.test/,
  /^server\/test\/program\/availability\/writes-hang\.test/,
]
/** The rooms whose promises hold wherever their rows lie. */
const spreadRooms =
  'server/test/{access,agents,channels,erasure,events,forms,inbox,leads,notices,rotation,stats,team,webhooks,workspace}/**/*.test.ts'
// server/test/inbox: the folders within a room hold too few files to fill a process.
const roomDepth = 3

process.chdir(root)
if (values.pooler && !hasPooler()) throw new Error(howToGetPooler)
const files = filesOf(positionals.length === 0 ? usualFiles() : positionals)
const chromium = files.some(takesBrowser) ? ensureChromium() : undefined
await buildWebIfNeeded()
const scratch = makeScratch()
process.env.TMPDIR = scratch.folder
const server = await startServer()
const pooler = values.pooler ? await startPooler(server.admin) : null
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
try {
  const { admin, template, strategy, isSpread } = server
  const handed = JSON.stringify({ admin, template, strategy, isSpread, poolerFolder: pooler?.socketFolder })
  Object.assign(process.env, { PARLEY_TEST_SERVER: handed, NODE_COMPILE_CACHE: cache })
  if (chromium !== undefined) Object.assign(process.env, { CHROMIUM: chromium })
  Object.assign(process.env, { PARLEY_TEST_GROUP: '1' })
  const beside = isSpread ? [] : waiting.flatMap((one) => files.filter((file) => file.endsWith(one)))
  const lanes = [
    {
      files: files.filter((file) => !beside.includes(file)),
      concurrency: isSpread ? 1 : Number(values['test-concurrency']),
    },
    { files: beside, concurrency: 1 },
  ].filter((lane) => lane.files.length > 0)
  const groups = writeGroups(lanes.map((lane) => groupsOf(lane.files)))
  const ended = await Promise.all(lanes.map(({ concurrency }, n) => runTests(groups[n] ?? [], concurrency, n === 0)))
  for (const { told } of ended) process.stdout.write(told)
  tellLongest(ended.flatMap(({ took }) => took))
  tellFailures(ended.flatMap(({ failures }) => failures))
  process.exitCode = ended.every(({ isGood }) => isGood) ? 0 : 1
} finally {
  await pooler?.stop()
  await server.stop()
  rmSync(groupFolder, { recursive: true, force: true })
  rmSync(scratch.folder, { recursive: true, force: true, maxRetries: 5 })
}

function startServer(): Promise<RunningTestServer> {
  if (!values.spread) return startTestServer(values.pooler ? {} : process.env, scratch)
  const url = process.env.CITUS_URL
  if (!url)
    throw new Error('CITUS_URL is to name a database of a server with Citus: postgres://user@coordinator/database')
  return startSpreadServer(url)
}

/** Browsers ask the service and never the database. */
function usualFiles(): string[] {
  if (values.spread) return globSync(spreadRooms).filter(holdsOnSpread)
  if (values.given) return globSync(serverTests).filter((file) => !hasOwnDatabase(file))
  return values.pooler ? [serverTests] : []
}

function hasOwnDatabase(file: string): boolean {
  return ofOwnDatabase.some((one) => one.test(file))
}

/** Not how one server plans, nor what needs an empty database, an upgrade or processes of its own. */
function holdsOnSpread(file: string): boolean {
  return !/plans|upgrade/.test(file) && !/emptyDatabase|startService|newFolder/.test(readFileSync(file, 'utf8'))
}

function filesOf(given: string[]): string[] {
  const patterns = given.map((one) => (isFolder(one) ? join(one, '**/*.test.ts') : one))
  const lost = patterns.find((pattern) => globSync(pattern).length === 0)
  if (lost !== undefined) throw new Error(`There is no test file ${lost}`)
  const found = globSync(patterns.length > 0 ? patterns : [serverTests, 'web/test/**/*.test.ts'])
  // Those that take longest begin first, so that no processor is without work while the last of them ends.
  return found.sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Others run on a machine that has none. */
function takesBrowser(file: string): boolean {
  return file.startsWith('web') || readFileSync(file, 'utf8').includes("from 'playwright-core'")
}

function placeOf(file: string): number {
  const place = longest.findIndex((one) => file.endsWith(one))
  if (place >= 0) return place
  return sharesDemo(file) ? longest.length : longest.length + 1
}

/** Web tests that share a demo and a browser, both of which take some seconds to begin. */
function sharesDemo(file: string): boolean {
  return file.startsWith('web') && readFileSync(file, 'utf8').includes('await sharedDemo()')
}

/** Small files of one room share a process, as to load the service takes longer than they do; so do those of one demo. */
function groupsOf(files: readonly string[]): string[][] {
  const groups: string[][] = []
  const open = new Map<string, string[]>()
  for (const file of files) {
    const isShared = sharesDemo(file)
    const isAlone = !isShared && (placeOf(file) < longest.length || alone.some((one) => one.test(file)))
    const room = isShared ? 'demo' : `${dirname(file).split(sep).slice(0, roomDepth).join('/')} ${hasOwnDatabase(file)}`
    const group = isAlone ? undefined : open.get(room)
    if (group !== undefined && group.length < together) {
      group.push(file)
      continue
    }
    const begun = [file]
    groups.push(begun)
    if (!isAlone) open.set(room, begun)
  }
  return groups
}

/** For each lane a file for each group, which is what a runner's process is given. */
function writeGroups(lanes: readonly string[][][]): string[][] {
  mkdirSync(groupFolder, { recursive: true })
  return lanes.map((groups, lane) => groups.map((files, n) => writeGroup(`${lane}-${n}`, files)))
}

function writeGroup(name: string, files: readonly string[]): string {
  const group = pathToFileURL(resolve('server/test/support/group.ts')).href
  const path = join(groupFolder, `${name}.mjs`)
  const named = files.map((name) => ({ name, path: resolve(name) }))
  const refusal = files.every(hasOwnDatabase) ? `process.env.PARLEY_TEST_SERVER = 'refused'\n` : ''
  writeFileSync(path, `${refusal}import { runGroup } from '${group}'\nawait runGroup(${JSON.stringify(named)})\n`)
  return path
}

interface Ended {
  isGood: boolean
  took: { file: string; ms: number }[]
  failures: Failure[]
  /** What is still to be shown. */
  told: string
}

interface Failure {
  name: string
  file: string | undefined
  error: Error
  /** What the test said of it: its page's look, its service's log. */
  diagnostics: string[]
}

/** Runs groups. What the first lane says is shown as it comes, what is beside it afterwards. */
async function runTests(groups: string[], concurrency: number, isShown: boolean): Promise<Ended> {
  const timeout = Number(values['test-timeout'])
  const tests = run({
    files: groups,
    concurrency,
    // Of a process with several files; each of their tests has the time that was given.
    timeout: 3 * timeout,
    execArgv: [`--test-timeout=${timeout}`],
    signal: stopping.signal,
    ...(values['test-name-pattern'] && { testNamePatterns: values['test-name-pattern'] }),
    testSkipPatterns: [
      ...(values.spread ? ofOneServer.map(({ name }) => name) : []),
      ...(values['test-skip-pattern'] ?? []),
    ],
  })
  let isGood = false
  const took: { file: string; ms: number }[] = []
  tests.on('test:summary', ({ file, success }) => {
    if (file === undefined) isGood = success
  })
  tests.on('test:complete', ({ name, nesting, details }) => {
    if (nesting === 0 && details.type === 'suite') took.push({ file: name, ms: details.duration_ms })
  })
  const failures = failuresOf(tests)
  const told: string[] = []
  const show = async (lines: AsyncIterable<unknown>) => {
    for await (const line of lines) isShown ? process.stdout.write(String(line)) : told.push(String(line))
  }
  await pipeline(tests, new spec(), show)
  return { isGood, took, failures, told: told.join('') }
}

/** Each test that failed by itself. What it says of itself comes right after it. */
function failuresOf(tests: TestsStream): Failure[] {
  const failures: Failure[] = []
  let last: Failure | undefined
  tests.on('test:pass', () => (last = undefined))
  tests.on('test:fail', ({ name, file, details: { error } }) => {
    last = undefined
    if ('failureType' in error && error.failureType === 'subtestsFailed') return
    last = { name, file, error, diagnostics: [] }
    failures.push(last)
  })
  tests.on('test:diagnostic', ({ message, file }) => {
    if (last !== undefined && file === last.file) last.diagnostics.push(message)
  })
  return failures
}

/** At the very end, as of a long output often only that is kept. */
function tellFailures(failures: readonly Failure[]): void {
  for (const { name, file, error, diagnostics } of failures) {
    const why = inspect(error.cause ?? error).slice(0, maxTold)
    process.stdout.write(`\n✖ ${name} (${file})\n${why}\n${diagnostics.join('\n').slice(-maxTold)}\n`)
  }
}

/** What to look at, should all of them take too long. */
function tellLongest(took: { file: string; ms: number }[]): void {
  if (took.length < manyFiles) return
  const longest = took.sort((a, b) => b.ms - a.ms).slice(0, manyFiles)
  const lines = longest.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)
  process.stdout.write(`\nThe files that took longest:\n${lines.join('\n')}\n`)
}
